/**
 * The hosts that a sandbox may reach, and the judgement over one host and its addresses.
 *
 * Guarantees: names are compared in the one spelling that connections use; what is not listed is refused; a name that leads
 * to any address that is not public is refused unless that address is listed itself.
 * Does not resolve names and does not connect.
 */
import { NetworkAddress } from "@toolwright/runtime-contract"
import { SandboxError } from "../SandboxError.js"

interface Entry {
  /** Without `*.`. */
  readonly host: string
  readonly isWildcard: boolean
  /** `undefined` for 80 and 443. */
  readonly port: number | undefined
}

/** Made by `parseHosts`. */
export interface HostList {
  readonly entries: ReadonlyArray<Entry>
}

export interface HostAndPort {
  /** As `NetworkAddress` spells it. */
  readonly host: string
  readonly port: number
}

/** Why the network was not reached. */
export interface RefusedHost {
  readonly host: string
  readonly port: number
  readonly reason: "NotListed" | "NotPublic" | "OtherHost" | "OtherProtocol"
}

const usualPorts: ReadonlyArray<number> = [80, 443]

/**
 * Reads `example.org` (ports 80 and 443), `example.org:8080`, `*.example.org` (names below it, not itself), `10.0.0.5:5432`
 * and `[fd00::1]:80`. Throws `SandboxError` (`BadNetwork`) for anything else.
 */
export const parseHosts = (texts: ReadonlyArray<string>): HostList => ({ entries: texts.map(entryOf) })

const entryOf = (text: string): Entry => {
  const isWildcard = text.startsWith("*.")
  const found = splitPort(isWildcard ? text.slice(2) : text)
  const host = found === undefined ? undefined : NetworkAddress.parseHost(found.host)
  const isAddress = host !== undefined && NetworkAddress.parseAddress(host) !== undefined
  // A wildcard over one label would be a whole part of the internet.
  if (
    found === undefined ||
    host === undefined ||
    /[*/]/.test(host) ||
    (isWildcard && (isAddress || !host.includes(".")))
  )
    throw new SandboxError("BadNetwork", {
      message: `network.hosts: expected a host like example.org, *.example.org, example.org:8080 or 10.0.0.5:5432, received ${JSON.stringify(text)}`
    })
  return { host, isWildcard, port: found.port }
}

const splitPort = (text: string): { readonly host: string; readonly port: number | undefined } | undefined => {
  // More than one colon without brackets is an address of IPv6.
  if (/^[^[\]]*:[^[\]]*:/.test(text)) return { host: text, port: undefined }
  const [, host = "", digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (host === "" || port === 0 || (port ?? 1) > 65_535) return undefined
  return { host: host.startsWith("[") ? host.slice(1, -1) : host, port }
}

/** Reads the target of a proxy's `CONNECT`, which must name its port. */
export const parseTarget = (text: string): HostAndPort | undefined => {
  const found = splitPort(text)
  const host = found === undefined ? undefined : NetworkAddress.parseHost(found.host)
  return host === undefined || found?.port === undefined ? undefined : { host, port: found.port }
}

export const lists = ({ entries }: HostList, { host, port }: HostAndPort): boolean =>
  entries.some(
    (entry) =>
      (entry.isWildcard ? host.endsWith(`.${entry.host}`) : host === entry.host) &&
      (entry.port === undefined ? usualPorts.includes(port) : port === entry.port)
  )

/** May a listed name be reached at this address of it? */
export const admits = (list: HostList, address: string, port: number): boolean => {
  const parsed = NetworkAddress.parseAddress(address)
  if (parsed === undefined) return false
  return NetworkAddress.scopeOf(parsed) === "Global" || lists(list, { host: plain(address), port })
}

/** In the spelling of a listed address. */
const plain = (address: string): string => NetworkAddress.parseHost(address.replace(/%.*$/, "")) ?? address

/** Some listed host is this machine, as far as its name says so. */
export const listsLoopback = ({ entries }: HostList): boolean =>
  entries.some(({ host }) => {
    const address = NetworkAddress.parseAddress(host)
    return host === "localhost" || (address !== undefined && NetworkAddress.scopeOf(address) === "Loopback")
  })
