/**
 * What a policy knows of a tool beyond its name: what kind of effect it has, and which of its arguments are paths, URLs
 * or command lines.
 *
 * Guarantees: data, never a guess from a description; a tool that nothing is known of counts as one that writes.
 * Does not grant anything: modes and rules do.
 */
import { compileGlob, hasWildcard, literalLength, matchesGlob } from "./internal/glob.js"

/**
 * `read`: changes nothing. `edit`: changes files that its path arguments name. `network`: reads from the network.
 * `execute`: may do anything. `unknown`: nothing was said, and it is treated like `execute`.
 */
export type ToolEffect = "read" | "edit" | "network" | "execute" | "unknown"

/** How conditions on an argument are read. What is not listed is text. */
export type FieldKind = "path" | "url" | "command" | "text"

export interface ToolProfile {
  readonly effect: ToolEffect
  /** By dotted path of the argument. An array stands for its elements. */
  readonly fields: Readonly<Record<string, FieldKind>>
  /**
   * Name of the thread's state under which the tool keeps the directory that its next call starts in, from the workspace.
   * Relative paths of its calls start there.
   */
  readonly directory?: string
}

/** By tool id or glob over ids; an exact id before a glob, a longer glob before a shorter. */
export type ToolProfiles = Readonly<Record<string, Partial<ToolProfile>>>

// Argument names that mean the same in nearly every tool. A tool's own profile goes first.
const usualFields: Readonly<Record<string, FieldKind>> = {
  path: "path",
  file_path: "path",
  filePath: "path",
  notebook_path: "path",
  directory: "path",
  cwd: "path",
  source: "path",
  destination: "path",
  old_path: "path",
  new_path: "path",
  url: "url",
  uri: "url"
}

/** Names by which tools call the one file or place that a call is about. A rule that says one of them means all. */
const samePlace: ReadonlyArray<ReadonlyArray<string>> = [
  ["path", "file_path", "filePath", "notebook_path"],
  ["url", "uri"]
]

/** The arguments that a condition on this one is about; the same array for each of them. `undefined`: itself alone. */
export const synonymsOf = (name: string): ReadonlyArray<string> | undefined =>
  samePlace.find((names) => names.includes(name))

const commandLine: ToolProfile = {
  effect: "execute",
  fields: { ...usualFields, command: "command", cmd: "command" },
  directory: "shell_directory"
}
const reading: Partial<ToolProfile> = { effect: "read" }
const editing: Partial<ToolProfile> = { effect: "edit" }
const fetching: Partial<ToolProfile> = { effect: "network" }

/** The tools in the box, and the names that coding agents commonly use. */
export const defaults: ToolProfiles = {
  read: reading,
  list: reading,
  ls: reading,
  glob: { effect: "read" },
  grep: reading,
  todo: reading,
  ask_user: reading,
  current_time: reading,
  calculate: reading,
  arithmetic: reading,
  tool_search: reading,
  write: editing,
  edit: editing,
  multi_edit: editing,
  move: editing,
  delete: editing,
  bash: commandLine,
  shell: commandLine,
  web_fetch: fetching,
  fetch: fetching,
  web_search: fetching
}

export type ProfileOf = (toolId: string) => ToolProfile

/** Looks up a profile: the policy's own entries first, then the defaults, then what argument names say. */
export const lookup = (own: ToolProfiles = {}): ProfileOf => {
  const layers = [index(own), index(defaults)]
  return (toolId) => {
    const found = layers.map((layer) => layer(toolId))
    const effect = found.find((profile) => profile?.effect !== undefined)?.effect ?? "unknown"
    const fields = { ...usualFields, ...found[1]?.fields, ...found[0]?.fields }
    const directory = found.find((profile) => profile?.directory !== undefined)?.directory
    return { effect, fields, ...(directory === undefined ? {} : { directory }) }
  }
}

const index = (profiles: ToolProfiles): ((toolId: string) => Partial<ToolProfile> | undefined) => {
  const exact = new Map(Object.entries(profiles).filter(([id]) => !hasWildcard(id)))
  const globs = Object.entries(profiles)
    .filter(([id]) => hasWildcard(id))
    .sort(([left], [right]) => literalLength(right) - literalLength(left) || (left < right ? -1 : 1))
    .map(([id, profile]) => ({ glob: compileGlob(id), profile }))
  return (toolId) => exact.get(toolId) ?? globs.find(({ glob }) => matchesGlob(glob, toolId))?.profile
}

/** How a condition on this field is read, and which part of a URL it means. */
export const kindOf = (
  profile: ToolProfile,
  field: ReadonlyArray<string>
): { readonly kind: FieldKind; readonly part: string | undefined; readonly field: ReadonlyArray<string> } => {
  const own = kindAt(profile, field)
  if (own !== undefined) return { kind: own, part: undefined, field }
  const last = field.at(-1)
  if (last !== undefined && urlParts.has(last) && kindAt(profile, field.slice(0, -1)) === "url")
    return { kind: "url", part: last, field: field.slice(0, -1) }
  return { kind: "text", part: undefined, field }
}

const urlParts: ReadonlySet<string> = new Set(["host", "port", "scheme", "path"])

// Array indices do not change what an argument is.
const kindAt = ({ fields }: ToolProfile, field: ReadonlyArray<string>): FieldKind | undefined => {
  const name = field.filter((key) => !/^\d+$/.test(key)).join(".")
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The arguments of this kind, in the order of their names. */
export const fieldsOfKind = (profile: ToolProfile, kind: FieldKind): ReadonlyArray<ReadonlyArray<string>> =>
  Object.keys(profile.fields)
    .filter((name) => profile.fields[name] === kind)
    .sort()
    .map((name) => name.split("."))
