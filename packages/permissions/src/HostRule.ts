/**
 * Host rules: `good.test`, `*.good.test`, `good.test:8443`, `10.0.0.0/8`, `@metadata`, and URL globs such as
 * `https://good.test/docs/**`.
 *
 * Guarantees: both sides go through one URL parser. Surely needs the usual port of the scheme (or the one written, or
 * `:*`) and no credentials; loosely matches any port, and an address in any of its spellings. A name pattern never surely
 * matches an address, so a wildcard opens no private network.
 * Does not ask a name server: judge the resolved address again, with the same rules, before connecting.
 */
import { NetworkAddress } from "@toolwright/runtime-contract"
import * as Certainty from "./Certainty.js"
import { compileGlob, hasWildcard, hole, matchesGlob } from "./internal/glob.js"

/** Names for what no web tool should reach, usable where a host is written. */
const groups: ReadonlyMap<string, ReadonlyArray<NetworkAddress.AddressScope>> = new Map([
  ["@loopback", ["Loopback", "Unspecified"]],
  ["@private", ["Private"]],
  ["@link-local", ["LinkLocal", "Metadata"]],
  ["@metadata", ["Metadata"]],
  ["@internal", ["Loopback", "Unspecified", "Private", "LinkLocal", "Metadata", "Multicast", "Reserved"]]
])

/** Names that lead to such places without being addresses. */
const internalNames: ReadonlyArray<readonly [RegExp, string]> = [
  [/(?:^|\.)localhost$/, "@loopback"],
  [/^(?:metadata|metadata\.google\.internal|metadata\.goog|instance-data(?:\.ec2\.internal)?)$/, "@metadata"],
  [/\.(?:internal|local|localdomain|lan|home\.arpa)$/, "@private"]
]

/** A URL in a call, ready to be compared. */
export interface ResolvedUrl {
  readonly text: string
  /** `undefined` for what is no absolute URL with a host. */
  readonly target: NetworkAddress.NetworkTarget | undefined
  /** The address that the host resolved to, where that is known already. */
  readonly address?: NetworkAddress.Address
}

export const resolve = (text: string): ResolvedUrl => ({
  text,
  target: text.includes(hole) ? undefined : NetworkAddress.parse(text)
})

interface HostMatch {
  readonly name: boolean
  readonly ofAddress: boolean
}

interface HostTest {
  (url: ResolvedUrl, target: NetworkAddress.NetworkTarget): HostMatch
  readonly endings?: ReadonlyArray<string>
}

const miss: HostMatch = { name: false, ofAddress: false }
const hit: HostMatch = { name: true, ofAddress: false }

/** What is wrong with a text as a host rule, said as what was expected; `undefined` where nothing is. */
export const problemOfHost = (pattern: string): string | undefined =>
  compileTest(pattern) === undefined
    ? `a host, *.host, host:port, an address, a range such as 10.0.0.0/8, or one of ${[...groups.keys()].join(" ")}`
    : undefined

/** How surely a URL is one that a rule names. */
export interface UrlTest {
  (url: ResolvedUrl): Certainty.Certainty
  /**
   * It is never one of a URL that was read, unless the labels of its host end so: the last label first. `undefined`: the
   * host may end in anything.
   */
  readonly endings?: ReadonlyArray<string> | undefined
}

/** The labels of a host, the last one first. */
export const labelsOf = (host: string): ReadonlyArray<string> => host.split(".").toReversed()

/** Compiles a host rule. One that cannot be read matches loosely at most; `problemOfHost` says so beforehand. */
export const compileHost = (pattern: string): UrlTest => {
  const { host, port } = splitPort(pattern)
  const test = compileTest(pattern)
  if (test === undefined) return () => Certainty.Possibly
  const judge = (url: ResolvedUrl): Certainty.Certainty => {
    const { target } = url
    // What no parser reads as a URL is fetched by nobody; should some tool read it otherwise, it was at least asked about.
    if (target === undefined) return Certainty.Possibly
    const found = test(url, target)
    if (!found.name && !found.ofAddress) return Certainty.Never
    const portFits = port === "*" || (port === undefined ? !target.unusualPort : target.port === port)
    if (typeof port === "number" && !portFits) return Certainty.Never
    // A name that merely resolved to an allowed address is not the address.
    return found.name && portFits && !target.credentials && host !== "" ? Certainty.Surely : Certainty.Loosely
  }
  return Object.assign(judge, { endings: test.endings })
}

const splitPort = (pattern: string): { readonly host: string; readonly port: number | "*" | undefined } => {
  const found = /^(\[[^\]]*\]|[^:]*):(\d{1,5}|\*)$/.exec(pattern)
  if (found === null) return { host: pattern, port: undefined }
  return { host: found[1] ?? "", port: found[2] === "*" ? "*" : Number(found[2]) }
}

const compileTest = (pattern: string): HostTest | undefined => {
  const { host, port } = splitPort(pattern)
  if (typeof port === "number" && (port < 1 || port > 65_535)) return undefined
  if (host.startsWith("@")) return compileGroup(host)
  const range = NetworkAddress.parseRange(host.replace(/^\[(.*)\]$/, "$1"))
  if (range !== undefined)
    return ({ address }, target) => ({
      name: target.address !== undefined && NetworkAddress.contains(range, target.address),
      ofAddress: address !== undefined && NetworkAddress.contains(range, address)
    })
  if (host === "*") return (_, target) => ({ name: target.address === undefined, ofAddress: true })
  const under = host.startsWith("*.")
  const name = NetworkAddress.parseHost(under ? host.slice(2) : host)
  // An odd spelling of an address would be read as one; a wildcard inside of a label is no host.
  if (name === undefined || name.includes("*") || (under && NetworkAddress.parseAddress(name) !== undefined))
    return undefined
  const dotted = `.${name}`
  const ofName: HostTest = under
    ? (_, target) => (target.host.endsWith(dotted) ? hit : miss)
    : (_, target) => (target.host === name ? hit : miss)
  return Object.assign(ofName, { endings: labelsOf(name) })
}

const compileGroup = (group: string): HostTest | undefined => {
  const scopes = groups.get(group)
  if (scopes === undefined) return undefined
  const isIn = (address: NetworkAddress.Address | undefined) =>
    address !== undefined && scopes.includes(NetworkAddress.scopeOf(address))
  return ({ address }, target) => ({
    name:
      isIn(target.address) ||
      internalNames.some(([name, of]) => (of === group || group === "@internal") && name.test(target.host)),
    ofAddress: isIn(address)
  })
}

/** What is wrong with a text as a URL glob; `undefined` where nothing is. */
export const problemOfUrl = (pattern: string): string | undefined => {
  const parts = splitUrl(pattern)
  if (parts === undefined)
    return "a URL glob such as https://good.test/docs/** (scheme, host and path; * for any scheme)"
  return problemOfHost(parts.host)
}

const splitUrl = (pattern: string) => {
  const found = /^(\*|[a-z][a-z0-9+.-]*):\/\/([^/]+)(\/.*)?$/.exec(pattern)
  return found === null ? undefined : { scheme: found[1] ?? "", host: found[2] ?? "", path: found[3] ?? "/**" }
}

/**
 * Compiles a URL glob. The query is not compared. In the path `*` stops at `/`, `**` does not. Surely needs a path that
 * reads the same with and without its percent escapes.
 */
export const compileUrl = (pattern: string): UrlTest => {
  const parts = splitUrl(pattern)
  if (parts === undefined) return () => Certainty.Possibly
  const host = compileHost(parts.host)
  const judge = (url: ResolvedUrl): Certainty.Certainty => {
    const certainty = host(url)
    if (url.target === undefined || certainty === Certainty.Never) return certainty
    if (parts.scheme !== "*" && parts.scheme !== url.target.scheme) return Certainty.Never
    return Certainty.and(certainty, pathCertainty(parts.path, url.target.url.pathname))
  }
  return Object.assign(judge, { endings: host.endings })
}

const pathCertainty = (pattern: string, pathname: string): Certainty.Certainty => {
  let decoded: string
  try {
    decoded = decodeURIComponent(pathname)
  } catch {
    return Certainty.Possibly
  }
  // %2f and %2e%2e mean a separator to one server and a character to the next.
  const climbs = /%(?:2f|5c|2e)/i.test(pathname)
  const matching = [pathname, decoded].filter((path) => matchesPath(pattern, path)).length
  if (matching === 2 && !climbs) return Certainty.Surely
  return matching > 0 ? Certainty.Loosely : climbs ? Certainty.Possibly : Certainty.Never
}

const matchesPath = (pattern: string, path: string): boolean => {
  const inside = pattern.endsWith("/**")
  const wanted = (inside ? pattern.slice(0, -3) : pattern).split("/")
  const given = path.split("/")
  if (inside ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => {
    const name = given[index] ?? ""
    return hasWildcard(part) ? matchesGlob(compileGlob(part), name) : part === name
  })
}
