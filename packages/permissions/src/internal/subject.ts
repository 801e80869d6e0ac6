/**
 * One call as conditions look at it: its arguments, the part of a command under judgement, and paths and URLs resolved
 * once however many rules ask about them.
 */
import type { Json, NetworkAddress } from "@toolwright/runtime-contract"
import * as HostRule from "../HostRule.js"
import type { ShellPart } from "../ShellAnalysis.js"
import * as WorkspacePath from "../WorkspacePath.js"

/** What paths and URLs of one call lead to, each followed once. */
export interface Resolver {
  readonly path: (path: string) => WorkspacePath.ResolvedPath
  readonly url: (url: string) => HostRule.ResolvedUrl
}

export interface Subject extends Resolver {
  readonly arguments: Json.JsonObject
  /** Which of these arguments the call has. */
  readonly given: (names: ReadonlyArray<string>) => ReadonlyArray<string>
  /** Set while a command is judged part by part. */
  readonly part: Pick<ShellPart, "exact" | "spellings"> | undefined
}

export interface ResolverOptions {
  readonly place: WorkspacePath.Place
  /** Where relative paths of this call start. Default the workspace. */
  readonly directory?: string | undefined
  /** What the host of every URL resolved to, where that is known. */
  readonly address?: NetworkAddress.Address | undefined
}

export const makeResolver = ({ place, directory, address }: ResolverOptions): Resolver => ({
  path: once((path) => WorkspacePath.resolve(place, directory === undefined ? { path } : { path, directory })),
  url: once((url) => (address === undefined ? HostRule.resolve(url) : { ...HostRule.resolve(url), address }))
})

// Most calls resolve nothing or one thing, which is kept beside a map that is made late.
const once = <A>(resolve: (text: string) => A): ((text: string) => A) => {
  let last: { readonly text: string; readonly resolved: A } | undefined
  let others: Map<string, A> | undefined
  return (text) => {
    if (last?.text === text) return last.resolved
    const resolved = others?.get(text) ?? resolve(text)
    if (last !== undefined) {
      others ??= new Map()
      others.set(last.text, last.resolved)
    }
    last = { text, resolved }
    return resolved
  }
}

export const subjectOf = (args: Json.JsonObject, { path, url }: Resolver): Subject => {
  // Many rules ask about the same few names, one after the other.
  let asked: ReadonlyArray<string> | undefined
  let found: ReadonlyArray<string> = []
  const given = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
    if (asked !== names) {
      asked = names
      found = names.filter((name) => Object.hasOwn(args, name))
    }
    return found
  }
  return { arguments: args, given, part: undefined, path, url }
}
