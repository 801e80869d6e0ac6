/**
 * Judges every URL that a tool is about to contact: the first, each redirect, and the address that its host resolved to.
 *
 * Guarantees: what a person approved covers that origin and no other; a name that resolves into an internal network is
 * refused unless a rule allows that address; a refusal does not say which rules there are.
 * Does not connect: whoever does, asks before each connection, and connects to the address that was judged.
 */
import { NetworkAddress } from "@toolwright/runtime-contract"
import type { CompiledPolicy } from "./Policy.js"

export interface Options {
  readonly toolId: string
  /** The argument that holds the URL. Default `"url"`. */
  readonly field?: string
}

export interface Contact {
  readonly url: URL | string
  /** What the host resolved to; asked again for each address that may be used. */
  readonly address?: string
  /** The URL of the call itself, which the gate has let through: redirects stay within its origin unless a rule allows them. */
  readonly admitted: URL | string
}

/** The reason why it may not be contacted; `undefined` where it may. */
export type UrlGuard = (contact: Contact) => string | undefined

export const make = (policy: CompiledPolicy, { toolId, field = "url" }: Options): UrlGuard => {
  const decide = (url: string, address?: NetworkAddress.Address) =>
    policy.decide({ toolId, arguments: { [field]: url }, ...(address === undefined ? {} : { address }) })
  return ({ url, address, admitted }) => {
    const target = parse(url)
    const first = parse(admitted)
    if (target === undefined || first === undefined) return "it is no URL with a host"
    const resolved = address === undefined ? target.address : NetworkAddress.parseAddress(address)
    if (address !== undefined && resolved === undefined) return "its host did not resolve to an address"
    const { behavior } = decide(target.url.href, resolved)
    if (behavior === "deny") return `${target.host} is denied by policy`
    const sameOrigin = target.url.origin === first.url.origin && !target.credentials
    if (behavior === "ask" && !sameOrigin) return `${target.host} needs an approval of its own`
    if (resolved === undefined || NetworkAddress.scopeOf(resolved) === "Global") return undefined
    // Whoever let http://127.0.0.1 through meant it; whoever let a name through did not mean where it leads.
    if (sameOrigin && (target.address !== undefined || /(?:^|\.)localhost$/.test(target.host))) return undefined
    const named = decide(`${target.scheme}://${hostOf(resolved)}/`)
    const meant = named.behavior === "allow" && named.source?.pattern.includes("(") === true
    return meant ? undefined : `${target.host} leads into an internal network`
  }
}

/**
 * The same as a tool asks it that fetches by itself: the URL of a hop, the URL of the call, and an address of the hop's
 * host once it has resolved. `web_fetch` takes it as `refuses`.
 */
export const refuses = (
  policy: CompiledPolicy,
  options: Options
): ((...asked: readonly [url: URL | string, first: URL | string, address?: string]) => string | undefined) => {
  const guard = make(policy, options)
  return (...[url, first, address]) => guard({ url, admitted: first, ...(address === undefined ? {} : { address }) })
}

const parse = (url: URL | string): NetworkAddress.NetworkTarget | undefined =>
  typeof url === "string" ? NetworkAddress.parse(url) : NetworkAddress.of(url)

const hostOf = (address: NetworkAddress.Address): string => {
  const text = NetworkAddress.print(address)
  return address.family === 6 ? `[${text}]` : text
}
