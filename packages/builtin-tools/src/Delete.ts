/**
 * Deletes a file, a link, or a folder with what it holds, inside the workspace.
 *
 * Guarantees: a link is removed and what it leads to is not touched; a folder needs `recursive` unless it is empty; a
 * link that takes the place of a folder meanwhile is not entered.
 * Does not keep a copy.
 */
import * as fs from "node:fs"
import { type RawTool, Tool, type ToolOperation } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { problemOf, readWhole } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { absent, FilesSeen } from "./internal/filesSeen.js"
import { versionOf } from "./internal/fileText.js"
import { codeOf, type HeldDirectory } from "./internal/heldDirectory.js"
import { shownName } from "./internal/shownName.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const args = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 4096, description: "A file, link or folder; a link is deleted itself" }),
  recursive: Type.Boolean({ default: false, description: "Delete a folder together with everything in it" })
})

const output = Type.Object({ path: Type.String(), deleted: Type.Integer({ description: "Files, links and folders" }) })

/** Needs no workspace to be described. */
export const Delete = Tool.define({
  id: "delete",
  description:
    "Delete a file, a link or an empty folder; with recursive: true a folder with everything in it. There is no way back.",
  args,
  output,
  recovery: "NonRecoverable",
  target: "Sandbox",
  state: [FilesSeen],
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. Named so because `delete` is a word of the language. */
export const deletePath = ({ workspace, seen }: Place): Tool.Tool<"delete", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Delete,
      concurrency: ({ path }) => Workspace.claims(workspace, [{ path, access: "Write", follow: false }]),
      reconcile: (operation, given) => reconcile({ workspace, seen }, { operation, given })
    },
    (given, context) => {
      const argument = { toolId: Delete.id, pointer: "/path", path: given.path, follow: false }
      return within(workspace, argument, (found) => {
        try {
          return deleteFound({ found, given, seen }, context)
        } catch (thrown) {
          throw explain(thrown, argument)
        }
      })
    }
  )

interface Deleting {
  readonly found: Found
  readonly given: Static<typeof args>
  readonly seen: Place["seen"]
}

const deleteFound = (
  { found, given, seen }: Deleting,
  context: Tool.CallContext
): Tool.Result<Static<typeof output>> => {
  const path = Workspace.show(found.names)
  const issue = (expected: string, received: string) =>
    refuse({ toolId: Delete.id, pointer: "/path", expected, received })
  if (found.name === "") throw issue("a path below the workspace", "the workspace itself")
  if (found.entry === undefined) throw issue("something that exists", JSON.stringify(given.path))
  let deleted = 0
  try {
    if (!found.entry.isDirectory()) fs.unlinkSync(found.parent.at(found.name))
    else if (given.recursive) deleted += empty(found.parent.open(found.name), context.signal)
    if (found.entry.isDirectory()) fs.rmdirSync(found.parent.at(found.name))
  } catch (error) {
    if (codeOf(error) === "ENOTEMPTY")
      throw issue("an empty folder, or recursive: true", "a folder that holds something")
    throw problemOf(error)
  }
  deleted++
  return Tool.result(
    { path, deleted },
    {
      state: [seen.saw(context, { [path]: absent })],
      content: [{ type: "text", text: `deleted ${shownName(path)}${deleted > 1 ? ` (${deleted} entries)` : ""}` }]
    }
  )
}

interface Asking {
  readonly operation: ToolOperation.ToolOperation
  readonly given: Static<typeof args>
}

/** A file that the thread has read and that is gone is deleted, whoever did it; one that is as it was is not. */
const reconcile = (
  { workspace, seen }: Place,
  { operation, given }: Asking
): RawTool.Reconciliation<Static<typeof output>> => {
  const argument = { toolId: Delete.id, pointer: "/path", path: given.path, follow: false }
  return within(
    workspace,
    argument,
    ({ entry, name, names, parent }): RawTool.Reconciliation<Static<typeof output>> => {
      const path = Workspace.show(names)
      const known = seen.version({ operation }, path)
      if (known === undefined || known === absent) return { _tag: "Unknown" }
      if (entry === undefined) return { _tag: "Happened", output: { path, deleted: 1 } }
      return entry.isFile() && versionOf(readWhole(parent, name).bytes) === known
        ? { _tag: "NotSent" }
        : { _tag: "Unknown" }
    }
  )
}

const empty = (directory: HeldDirectory, signal: AbortSignal): number => {
  let deleted = 0
  try {
    for (const entry of fs.readdirSync(directory.at("."), { withFileTypes: true })) {
      signal.throwIfAborted()
      if (entry.isDirectory()) {
        deleted += empty(directory.open(entry.name), signal)
        fs.rmdirSync(directory.at(entry.name))
      } else fs.unlinkSync(directory.at(entry.name))
      deleted++
    }
  } finally {
    directory.close()
  }
  return deleted
}
