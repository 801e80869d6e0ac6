/**
 * Writes one whole file of the workspace.
 *
 * Guarantees: whoever looks sees the old content or the new one; folders on the way are made; a file that this thread
 * has not seen as it is now is not replaced unless the call says so.
 * Does not append and does not change a part: `edit` does.
 */
import { type RawTool, Tool, type ToolOperation } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { makeParents, readWhole, replace } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { FilesSeen } from "./internal/filesSeen.js"
import { versionOf } from "./internal/fileText.js"
import { withLock } from "./internal/pathLock.js"
import { shownName } from "./internal/shownName.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const args = Type.Object({
  file_path: Type.String({ minLength: 1, maxLength: 4096, description: "Absolute, or relative to the workspace" }),
  content: Type.String({ maxLength: 5_000_000, description: "The whole content" }),
  overwrite: Type.Boolean({
    default: false,
    description: "Replace an existing file even if it was not read before or has changed since"
  })
})

const output = Type.Object({
  file_path: Type.String({ description: "From the workspace" }),
  size: Type.Integer({ description: "Bytes" }),
  created: Type.Boolean({ description: "True where there was no such file" }),
  version: Type.String()
})

/** Needs no workspace to be described. */
export const Write = Tool.define({
  id: "write",
  description: [
    "Write a file as a whole, making the folders on the way. The file is replaced in one act, never half.",
    "An existing file must have been read in this conversation and not have changed since, or overwrite must be true.",
    "Prefer `edit` for changes to an existing file. At most 5,000,000 characters."
  ].join(" "),
  args,
  output,
  recovery: "NonRecoverable",
  target: "Sandbox",
  state: [FilesSeen],
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. */
export const write = ({ workspace, seen }: Place): Tool.Tool<"write", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Write,
      concurrency: ({ file_path }) => Workspace.claims(workspace, [{ path: file_path, access: "Write" }]),
      reconcile: (operation, given) => reconcile({ workspace, seen }, { operation, given })
    },
    (given, context) => {
      const argument = { toolId: Write.id, pointer: "/file_path", path: given.file_path }
      return within(workspace, argument, (found) =>
        withLock(Workspace.keyOf(workspace, found.names), {
          signal: context.signal,
          work: async () => {
            try {
              return await writeFound({ found, given, seen }, context)
            } catch (thrown) {
              throw explain(thrown, argument)
            }
          }
        })
      )
    }
  )

interface Writing {
  readonly found: Found
  readonly given: Static<typeof args>
  readonly seen: Place["seen"]
}

const writeFound = async (
  { found, given, seen }: Writing,
  context: Tool.CallContext
): Promise<Tool.Result<Static<typeof output>>> => {
  const file_path = Workspace.show(found.names)
  if (given.file_path.endsWith("/"))
    throw refuse({
      toolId: Write.id,
      pointer: "/file_path",
      expected: "the path of a file",
      received: "one that ends with a slash, as folders do",
      fix: "folders are made on the way to a file"
    })
  if (found.name === "")
    throw refuse({ toolId: Write.id, pointer: "/file_path", expected: "a file", received: "the workspace itself" })
  const bytes = Buffer.from(given.content.toWellFormed(), "utf8")
  const target = makeParents(found.parent, found.missing)
  try {
    // Read again under the lock: what the walk saw may be history.
    const before = found.entry === undefined ? undefined : readWhole(target.directory, found.name)
    if (before !== undefined && !given.overwrite) {
      const known = seen.version(context, file_path)
      if (known !== versionOf(before.bytes)) throw unseen(file_path, known !== undefined)
    }
    await replace({
      directory: target.directory,
      name: found.name,
      bytes,
      expected: before?.stat,
      signal: context.signal
    })
    const version = versionOf(bytes)
    const state = [seen.saw(context, { [file_path]: version })]
    const created = before === undefined
    const text = `${created ? "created" : "replaced"} ${shownName(file_path)} (${bytes.length} bytes)`
    return Tool.result(
      { file_path, size: bytes.length, created, version },
      { state, content: [{ type: "text", text }] }
    )
  } finally {
    target.close()
  }
}

const unseen = (path: string, isChanged: boolean): unknown =>
  refuse({
    toolId: Write.id,
    pointer: "/file_path",
    expected: "a new file, or one that was read before and is unchanged",
    received: `${shownName(path)}, which ${isChanged ? "has changed since it was read" : "exists and was not read"}`,
    fix: "read it first and take over what must stay, or send overwrite: true to replace it whatever it holds"
  })

interface Asking {
  readonly operation: ToolOperation.ToolOperation
  readonly given: Static<typeof args>
}

/**
 * A file that holds exactly what was to be written says that it happened, one that is as this thread read it that it did
 * not; anything else proves nothing.
 */
const reconcile = (
  { workspace, seen }: Place,
  { operation, given }: Asking
): RawTool.Reconciliation<Static<typeof output>> =>
  within(workspace, { toolId: Write.id, pointer: "/file_path", path: given.file_path }, (found) => {
    if (found.entry === undefined) return { _tag: "Unknown" }
    const file_path = Workspace.show(found.names)
    const { bytes } = readWhole(found.parent, found.name)
    const version = versionOf(bytes)
    if (bytes.equals(Buffer.from(given.content.toWellFormed(), "utf8")))
      return { _tag: "Happened", output: { file_path, size: bytes.length, created: false, version } }
    return seen.version({ operation }, file_path) === version ? { _tag: "NotSent" } : { _tag: "Unknown" }
  })
