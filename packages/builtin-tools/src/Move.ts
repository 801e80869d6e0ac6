/**
 * Moves or renames a file or folder inside the workspace.
 *
 * Guarantees: one act of the file system; folders on the way are made; an existing destination is kept unless the call
 * says so, and a folder is never replaced.
 * Does not copy: a move to another file system, for example a mounted folder, is refused.
 */
import * as fs from "node:fs"
import { type RawTool, Tool, ToolConcurrency, type ToolOperation } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { makeParents, problemOf, readWhole, syncDirectory } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { absent, FilesSeen } from "./internal/filesSeen.js"
import { versionOf } from "./internal/fileText.js"
import { codeOf, type HeldDirectory, look } from "./internal/heldDirectory.js"
import { shownName } from "./internal/shownName.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const path = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description })

const args = Type.Object({
  source: path("What to move; a link is moved itself, not what it leads to"),
  destination: path("The new path, with the new name"),
  overwrite: Type.Boolean({ default: false, description: "Replace an existing file" })
})

const output = Type.Object({ source: Type.String(), destination: Type.String() })

/** Needs no workspace to be described. */
export const Move = Tool.define({
  id: "move",
  description:
    "Move or rename a file or folder. An existing file is replaced only with overwrite: true, a folder never.",
  args,
  output,
  recovery: "NonRecoverable",
  target: "Sandbox",
  state: [FilesSeen],
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. */
export const move = ({ workspace, seen }: Place): Tool.Tool<"move", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Move,
      concurrency: ({ source, destination }) =>
        ToolConcurrency.narrow(
          Workspace.claims(workspace, [{ path: source, access: "Write", follow: false }]),
          Workspace.claims(workspace, [{ path: destination, access: "Write", follow: false }])
        ),
      reconcile: (operation, given) => reconcile({ workspace, seen }, { operation, given })
    },
    (given, context) => {
      const from = { toolId: Move.id, pointer: "/source", path: given.source, follow: false }
      const to = { toolId: Move.id, pointer: "/destination", path: given.destination, follow: false }
      return within(workspace, from, (source) =>
        within(workspace, to, (destination) => moveFound({ source, destination, given, seen }, context))
      )
    }
  )

interface Moving {
  readonly source: Found
  readonly destination: Found
  readonly given: Static<typeof args>
  readonly seen: Place["seen"]
}

const moveFound = async (
  { source, destination, given, seen }: Moving,
  context: Tool.CallContext
): Promise<Tool.Result<Static<typeof output>>> => {
  const issue = issueOf({ source, destination, given, seen })
  if (issue !== undefined) throw refuse({ toolId: Move.id, ...issue })
  let target: ReturnType<typeof makeParents> | undefined
  try {
    target = makeParents(destination.parent, destination.missing)
    rename({ source, name: destination.name, directory: target.directory, overwrite: given.overwrite })
    await syncDirectory(target.directory)
  } catch (thrown) {
    throw explain(thrown, { toolId: Move.id, pointer: "/destination" })
  } finally {
    target?.close()
  }
  const said = { source: Workspace.show(source.names), destination: Workspace.show(destination.names) }
  const known = seen.version(context, said.source)
  // What was known of a file goes along with it.
  const state = [
    seen.saw(context, { [said.source]: absent, ...(known === undefined ? {} : { [said.destination]: known }) })
  ]
  return Tool.result(said, {
    state,
    content: [{ type: "text", text: `moved ${shownName(said.source)} to ${shownName(said.destination)}` }]
  })
}

interface Asking {
  readonly operation: ToolOperation.ToolOperation
  readonly given: Static<typeof args>
}

/** Only a file that the thread has read can be known again: gone from one path, and there with the same content at the other. */
const reconcile = (
  { workspace, seen }: Place,
  { operation, given }: Asking
): RawTool.Reconciliation<Static<typeof output>> => {
  const from = { toolId: Move.id, pointer: "/source", path: given.source, follow: false }
  const to = { toolId: Move.id, pointer: "/destination", path: given.destination, follow: false }
  return within(workspace, from, (source) =>
    within(workspace, to, (destination): RawTool.Reconciliation<Static<typeof output>> => {
      const said = { source: Workspace.show(source.names), destination: Workspace.show(destination.names) }
      const known = seen.version({ operation }, said.source)
      if (known === undefined || known === absent) return { _tag: "Unknown" }
      if (destination.entry === undefined && isVersion(source, known)) return { _tag: "NotSent" }
      return source.entry === undefined && isVersion(destination, known)
        ? { _tag: "Happened", output: said }
        : { _tag: "Unknown" }
    })
  )
}

const isVersion = ({ entry, parent, name }: Found, version: string): boolean =>
  entry?.isFile() === true && versionOf(readWhole(parent, name).bytes) === version

const issueOf = ({ source, destination, given }: Moving) => {
  if (source.name === "" || destination.name === "")
    return {
      pointer: source.name === "" ? "/source" : "/destination",
      expected: "a path below the workspace",
      received: "the workspace itself"
    }
  if (source.entry === undefined)
    return {
      pointer: "/source",
      expected: "something that exists",
      received: JSON.stringify(given.source),
      fix: "look for it with `glob`"
    }
  const isInside = source.entry.isDirectory() && source.names.every((name, at) => destination.names[at] === name)
  if (isInside && destination.names.length > source.names.length)
    return { pointer: "/destination", expected: "a path outside of the folder that is moved", received: "one inside" }
  const { entry } = destination
  if (entry === undefined) return undefined
  if (entry.ino === source.entry.ino && entry.dev === source.entry.dev && source.entry.isDirectory()) return undefined
  if (entry.isDirectory())
    return { pointer: "/destination", expected: "the new path with the new name", received: "an existing folder" }
  return given.overwrite
    ? undefined
    : {
        pointer: "/destination",
        expected: "a free path",
        received: "an existing file",
        fix: "choose another, or send overwrite: true"
      }
}

interface Renaming {
  readonly source: Found
  readonly directory: HeldDirectory
  readonly name: string
  readonly overwrite: boolean
}

const rename = ({ source, directory, name, overwrite }: Renaming): void => {
  try {
    if (!overwrite && source.entry?.isDirectory() === false && look(directory, name) === undefined)
      return renameNew({ source, directory, name })
    fs.renameSync(source.parent.at(source.name), directory.at(name))
  } catch (error) {
    if (codeOf(error) === "EXDEV")
      throw refuse({
        toolId: Move.id,
        pointer: "/destination",
        expected: "a path on the same file system",
        received: "one on another"
      })
    throw problemOf(error)
  }
}

// A rename would replace what appeared in the meantime; a link refuses. Where links are not allowed, a rename has to do.
const renameNew = ({ source, directory, name }: Omit<Renaming, "overwrite">): void => {
  const [from, to] = [source.parent.at(source.name), directory.at(name)]
  try {
    fs.linkSync(from, to)
  } catch (error) {
    const code = codeOf(error)
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EMLINK") throw error
    return fs.renameSync(from, to)
  }
  fs.unlinkSync(from)
}
