/**
 * Replaces exact texts in one file of the workspace, one or several at once.
 *
 * Guarantees: all of the edits or none; each text must be found, and found once unless the call says otherwise; a file
 * that changed since this thread read it is left alone; line ends and encoding stay as they were.
 * Does not match loosely and does not create files.
 */
import { type RawTool, Tool, ToolArgs, type ToolOperation } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { readWhole, replace } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { FilesSeen } from "./internal/filesSeen.js"
import { decode, encodeLike, versionOf } from "./internal/fileText.js"
import { withLock } from "./internal/pathLock.js"
import { type Replaced, replaceTexts, type TextEdit } from "./internal/replaceTexts.js"
import { replacementsMade } from "./internal/reversedEdit.js"
import { shownName } from "./internal/shownName.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const text = (description: string) => Type.String({ maxLength: 1_000_000, description })

const args = Type.Object({
  file_path: Type.String({ minLength: 1, maxLength: 4096, description: "Absolute, or relative to the workspace" }),
  old_string: Type.Optional(text("The text to replace, exactly as it stands in the file, without line numbers")),
  new_string: Type.Optional(text("What takes its place")),
  replace_all: Type.Boolean({ default: false, description: "Replace every occurrence instead of exactly one" }),
  edits: Type.Optional(
    Type.Array(
      Type.Object({
        old_string: text("As above"),
        new_string: text("As above"),
        replace_all: Type.Boolean({ default: false })
      }),
      { minItems: 1, maxItems: 100, description: "Several edits, each applied to the result of the one before" }
    )
  )
})

const output = Type.Object({
  file_path: Type.String({ description: "From the workspace" }),
  replacements: Type.Integer(),
  version: Type.String()
})

/** Needs no workspace to be described. */
export const Edit = Tool.define({
  id: "edit",
  description: [
    "Replace exact text in a file: send old_string and new_string, or edits for several changes at once; all are made or none.",
    "old_string must occur exactly once unless replace_all is true: include enough lines around it.",
    "Refused when the file has changed since it was read in this conversation: read it again then.",
    "Text files up to 10 MiB."
  ].join(" "),
  args,
  output,
  recovery: "NonRecoverable",
  target: "Sandbox",
  state: [FilesSeen],
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. */
export const edit = ({ workspace, seen }: Place): Tool.Tool<"edit", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Edit,
      concurrency: ({ file_path }) => Workspace.claims(workspace, [{ path: file_path, access: "Write" }]),
      reconcile: (operation, given) => reconcile({ workspace, seen }, { operation, given })
    },
    (given, context) => {
      const edits = editsOf(given)
      const argument = { toolId: Edit.id, pointer: "/file_path", path: given.file_path }
      return within(workspace, argument, (found) =>
        withLock(Workspace.keyOf(workspace, found.names), {
          signal: context.signal,
          work: async () => {
            try {
              return await editFound({ found, edits, seen }, context)
            } catch (thrown) {
              throw explain(thrown, argument)
            }
          }
        })
      )
    }
  )

/** The edits of a call, in whichever of the two forms they came. Throws `ToolError` where it is neither or both. */
export const editsOf = ({
  old_string,
  new_string,
  replace_all,
  edits
}: Static<typeof args>): ReadonlyArray<TextEdit & { readonly pointer: string }> => {
  const isSingle = old_string !== undefined || new_string !== undefined
  if (edits !== undefined && !isSingle) return edits.map((one, index) => ({ ...one, pointer: `/edits/${index}` }))
  if (edits === undefined && old_string !== undefined && new_string !== undefined)
    return [{ old_string, new_string, replace_all, pointer: "" }]
  throw refuse({
    toolId: Edit.id,
    pointer: edits === undefined ? (old_string === undefined ? "/old_string" : "/new_string") : "/edits",
    expected: "either old_string and new_string, or edits",
    received: edits === undefined ? "not both texts" : "both forms",
    fix: "send one of the two forms, complete"
  })
}

interface Editing {
  readonly found: Found
  readonly edits: ReturnType<typeof editsOf>
  readonly seen: Place["seen"]
}

const editFound = async (
  { found, edits, seen }: Editing,
  context: Tool.CallContext
): Promise<Tool.Result<Static<typeof output>>> => {
  const file_path = Workspace.show(found.names)
  const { bytes, stat } = readWhole(found.parent, found.name === "" ? "." : found.name)
  const known = seen.version(context, file_path)
  if (known !== undefined && known !== versionOf(bytes))
    throw refuse({
      toolId: Edit.id,
      pointer: "/file_path",
      expected: "a file as it was when this conversation read it",
      received: `${shownName(file_path)}, which has changed since`,
      fix: "read it again, then edit what is there now"
    })
  const before = decode(bytes)
  if (before === undefined)
    throw refuse({ toolId: Edit.id, pointer: "/file_path", expected: "a text file", received: "a binary one" })
  const made = replaceTexts(before.text, edits)
  if (!made.ok) throw ToolArgs.invalidArguments(Edit.id, made.issues)
  const after = encodeLike(made.text, before)
  await replace({ directory: found.parent, name: found.name, bytes: after, expected: stat, signal: context.signal })
  const version = versionOf(after)
  const state = [seen.saw(context, { [file_path]: version })]
  const content = [{ type: "text" as const, text: said(file_path, made) }]
  return Tool.result({ file_path, replacements: made.count, version }, { state, content })
}

interface Asking {
  readonly operation: ToolOperation.ToolOperation
  readonly given: Static<typeof args>
}

/**
 * The thread knows the version that it read. The file that still has it was not edited; one that gives it again when the
 * edits are taken back was. Anything else proves nothing.
 */
const reconcile = (
  { workspace, seen }: Place,
  { operation, given }: Asking
): RawTool.Reconciliation<Static<typeof output>> =>
  within(workspace, { toolId: Edit.id, pointer: "/file_path", path: given.file_path }, (found) => {
    const file_path = Workspace.show(found.names)
    const known = seen.version({ operation }, file_path)
    if (known === undefined || found.entry === undefined) return { _tag: "Unknown" }
    const { bytes } = readWhole(found.parent, found.name)
    const version = versionOf(bytes)
    if (version === known) return { _tag: "NotSent" }
    const now = decode(bytes)
    if (now === undefined) return { _tag: "Unknown" }
    const replacements = replacementsMade(now.text, {
      edits: editsOf(given),
      isBefore: (text) => versionOf(encodeLike(text, now)) === known
    })
    return replacements === undefined
      ? { _tag: "Unknown" }
      : { _tag: "Happened", output: { file_path, replacements, version } }
  })

const said = (path: string, { count, shown }: Extract<Replaced, { ok: true }>): string =>
  `edited ${shownName(path)}: ${count} replacement${count === 1 ? "" : "s"}\n${shown}`
