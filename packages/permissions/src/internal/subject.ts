/**
 * One call as conditions look at it: its arguments, the part of a command under judgement, and paths and URLs resolved
 * once however many rules ask about them.
 */
import type { Json, NetworkAddress } from "@toolwright/runtime-contract"
import * as HostRule from "../HostRule.js"
import type { ShellPart } from "../ShellAnalysis.js"
import * as WorkspacePath from "../WorkspacePath.js"

export interface ResolverOptions {
  readonly place: WorkspacePath.Place
  /** Where relative paths of this call start. Default the workspace. */
  readonly directory?: string | undefined
  /** What the host of every URL resolved to, where that is known. */
  readonly address?: NetworkAddress.Address | undefined
}

/** What paths and URLs of one call lead to, each followed once. Made for every call, so it makes nothing beforehand. */
export class Resolver {
  readonly #options: ResolverOptions
  // Most calls resolve nothing or one thing, which is kept beside a map that is made late.
  #path: WorkspacePath.ResolvedPath | undefined
  #paths: Map<string, WorkspacePath.ResolvedPath> | undefined
  #url: HostRule.ResolvedUrl | undefined
  #urls: Map<string, HostRule.ResolvedUrl> | undefined

  constructor(options: ResolverOptions) {
    this.#options = options
  }

  path(text: string): WorkspacePath.ResolvedPath {
    const last = this.#path
    if (last?.text === text) return last
    const { directory, place } = this.#options
    const found =
      this.#paths?.get(text) ??
      WorkspacePath.resolve(place, directory === undefined ? { path: text } : { path: text, directory })
    if (last !== undefined) (this.#paths ??= new Map()).set(last.text, last)
    this.#path = found
    return found
  }

  url(text: string): HostRule.ResolvedUrl {
    const last = this.#url
    if (last?.text === text) return last
    const found = this.#urls?.get(text) ?? this.#resolveUrl(text)
    if (last !== undefined) (this.#urls ??= new Map()).set(last.text, last)
    this.#url = found
    return found
  }

  #resolveUrl(text: string): HostRule.ResolvedUrl {
    const { address } = this.#options
    return address === undefined ? HostRule.resolve(text) : { ...HostRule.resolve(text), address }
  }
}

type Part = Pick<ShellPart, "exact" | "spellings">

export class Subject {
  readonly arguments: Json.JsonObject
  /** Set while a command is judged part by part. */
  readonly part: Part | undefined
  readonly #resolver: Resolver
  // Many rules ask about the same few names, one after the other.
  #asked: ReadonlyArray<string> | undefined
  #found: ReadonlyArray<string> = []

  constructor(args: Json.JsonObject, given: { readonly resolver: Resolver; readonly part?: Part }) {
    this.arguments = args
    this.#resolver = given.resolver
    this.part = given.part
  }

  path(text: string): WorkspacePath.ResolvedPath {
    return this.#resolver.path(text)
  }

  url(text: string): HostRule.ResolvedUrl {
    return this.#resolver.url(text)
  }

  /** Which of these arguments the call has. */
  given(names: ReadonlyArray<string>): ReadonlyArray<string> {
    if (this.#asked !== names) {
      this.#asked = names
      this.#found = names.filter((name) => Object.hasOwn(this.arguments, name))
    }
    return this.#found
  }

  /** The same call, with a part of its command under judgement. */
  withPart(part: Part): Subject {
    return new Subject(this.arguments, { resolver: this.#resolver, part })
  }
}
