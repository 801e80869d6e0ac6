/**
 * Path globs, compiled against a workspace: the exact form that allows, the loose forms that deny, and the open form for
 * paths of which a part is not known yet.
 *
 * Guarantees: linear in pattern times path; `\` before a character makes it literal, so separators are `/` on every platform.
 */
import type { Place } from "../WorkspacePath.js"
import { compileGlob, escapeGlob, type Glob, hasWildcard, hole, matchesGlob, mayMatchGlob } from "./glob.js"
import { collapse, fold, join, type Segments, split } from "./pathSegments.js"
import { realPath } from "./realPath.js"

const anyNames = Symbol("any names")
type PatternName = Glob | typeof anyNames

export interface PatternPath {
  /** `undefined` matches under any root. */
  readonly root: string | undefined
  /** The names before the first wildcard, compared first and from the end: that is where most patterns differ. */
  readonly lead: ReadonlyArray<string>
  readonly names: ReadonlyArray<PatternName>
}

export interface PathGlob {
  readonly exact: PatternPath
  readonly loose: ReadonlyArray<PatternPath>
  readonly open: ReadonlyArray<Glob>
  readonly workspace: string
  readonly home: string
}

export const compile = (place: Place, pattern: string): PathGlob => {
  const { view } = place
  const spelled = absolute(place, pattern)
  const real = canonical(place, spelled)
  // `dir/**` is what lies in the directory; `**` alone is the place itself too.
  const endsInside = /[^/]\/\*\*$/.test(pattern) && pattern !== "~/**"
  const exactNames = endsInside ? [...real.names.slice(0, -1), "*", "**"] : real.names
  const folded = (root: string | undefined, names: ReadonlyArray<string>) =>
    compilePath(
      root,
      [...names, "**"].map((name) => fold(name, view.foldsNames))
    )
  const both = join(spelled, "posix") === join(real, "posix") ? [real] : [spelled, real]
  const loose: Array<PatternPath> = both.map(({ root, names }) => folded(root, names))
  // A glob without a slash names a file wherever it lies.
  const bare = !pattern.includes("/") && pattern !== "~"
  if (bare) loose.push(folded(undefined, ["**", pattern]))
  const texts = both.map(({ root, names }) => [root, ...names].join("/"))
  if (bare) texts.push(`*/${pattern}`)
  return {
    exact: compilePath(real.root, exactNames),
    loose,
    open: texts.flatMap((text) => [text, `${text}/*`]).map((text) => compileGlob(fold(text, view.foldsNames))),
    workspace: place.workspace,
    home: view.home
  }
}

export const matches = ({ root, lead, names }: PatternPath, path: Segments): boolean => {
  if (root !== undefined && root !== path.root) return false
  for (let index = lead.length - 1; index >= 0; index--) if (lead[index] !== path.names[index]) return false
  return matchNames(names, { names: path.names, from: lead.length })
}

/**
 * Root and first names of every path that the loose forms match, as the volume folds them; `undefined` where one of them
 * may begin with anything.
 */
export const beginnings = ({ loose }: PathGlob): ReadonlyArray<ReadonlyArray<string>> | undefined => {
  const found: Array<ReadonlyArray<string>> = []
  for (const { root, lead } of loose) {
    if (root === undefined) return undefined
    found.push([root, ...lead])
  }
  return found
}

/** For a text with holes: could the whole path, once known, be one that the glob denies? */
export const mayMatch = (
  glob: PathGlob,
  { text, directory = glob.workspace }: { readonly text: string; readonly directory?: string | undefined }
): boolean => {
  // With `..` beside a hole there is no telling where the path leads.
  if (text.includes("..")) return true
  const path = text.startsWith("~/")
    ? glob.home + text.slice(1)
    : /^(?:\/|[A-Za-z]:)/.test(text)
      ? text
      : `${directory}/${text}`
  const forms = [path, `${directory}/${text}`].map((form) =>
    form.replaceAll("\\", "/").replaceAll(/\/(?:\.?\/)+/g, "/")
  )
  // A hole at the start may make the path absolute.
  if (text.startsWith(hole)) forms.push(text)
  return glob.open.some((open) =>
    forms.some((form) => mayMatchGlob(open, form) || mayMatchGlob(open, form.toLowerCase()))
  )
}

const compilePath = (root: string | undefined, names: ReadonlyArray<string>): PatternPath => {
  const wild = names.findIndex((name) => hasWildcard(name))
  const count = wild < 0 ? names.length : wild
  return {
    root,
    lead: names.slice(0, count).map(unescape),
    names: names.slice(count).map((name) => (name === "**" ? anyNames : compileGlob(name)))
  }
}

const unescape = (name: string): string => name.replaceAll(/\\(.)/gs, "$1")

/** The pattern from the root, `..` resolved by the text. */
const absolute = ({ view, workspace }: Place, pattern: string): Segments => {
  const escaped = (path: string): Segments => {
    const { root, names } = split(path, view.style)
    return { root: root ?? "", names: names.map(escapeGlob) }
  }
  const home = pattern === "~" || pattern.startsWith("~/")
  const drive = view.style === "win32" ? /^([A-Za-z]:)\//.exec(pattern)?.[1]?.toUpperCase() : undefined
  const isAbsolute = pattern.startsWith("/") || drive !== undefined
  const base = home
    ? escaped(view.home)
    : isAbsolute
      ? { root: drive ?? (view.style === "win32" ? "C:" : ""), names: [] }
      : escaped(workspace)
  const rest = pattern.slice(home ? 1 : (drive?.length ?? 0)).split("/")
  return { root: base.root, names: collapse([...base.names, ...rest.filter((name) => name !== "" && name !== ".")]) }
}

const canonical = ({ view }: Place, { root, names }: Segments): Segments => {
  const wild = names.findIndex((name) => hasWildcard(name))
  const count = wild < 0 ? names.length : wild
  const start = { root, names: names.slice(0, count).map(unescape) }
  const real = realPath(view, start)
  if (real === undefined) return { root, names }
  return { root: real.root, names: [...real.names.map(escapeGlob), ...names.slice(count)] }
}

const matchNames = (
  pattern: ReadonlyArray<PatternName>,
  { names, from }: { readonly names: ReadonlyArray<string>; readonly from: number }
): boolean => {
  let at = from
  let step = 0
  let behindAny = -1
  let swallowed = 0
  while (at < names.length) {
    const want = pattern[step]
    const name = names[at] ?? ""
    if (want === anyNames) {
      behindAny = ++step
      swallowed = at
    } else if (want !== undefined && matchesGlob(want, name)) {
      step++
      at++
    } else if (behindAny >= 0) {
      step = behindAny
      at = ++swallowed
    } else return false
  }
  while (pattern[step] === anyNames) step++
  return step === pattern.length
}
