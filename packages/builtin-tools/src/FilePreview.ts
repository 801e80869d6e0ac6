/**
 * What a `write` or an `edit` would make of its file, found out without making it: for whoever has to approve the call.
 *
 * Guarantees: the same path rules, reading and replacing as the tools; a call that would be refused throws the same error.
 * Does not know what a thread has read, so it does not refuse a file that changed since; and a file may change between
 * looking and calling: look again before the answer is given.
 */
import { type Json, type Tool, ToolArgs } from "@toolwright/runtime-contract"
import type { Static, TSchema } from "@toolwright/runtime-contract/typebox"
import { Edit, editsOf } from "./Edit.js"
import { FileProblem, readWhole } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { decode, type FileText } from "./internal/fileText.js"
import { replaceTexts } from "./internal/replaceTexts.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import * as Workspace from "./Workspace.js"
import { Write } from "./Write.js"

/** A file before and after a call. */
export interface FileChange {
  /** From the workspace, as the tools show it. */
  readonly file_path: string
  /** `none`: there is no such file. `binary`: there is one, and it is no text. */
  readonly replaces: "none" | "text" | "binary"
  /** The text now; empty where there is none. Of an edit without byte order mark, and with line ends as `\n` where they are consistently `\r\n`. */
  readonly before: string
  readonly after: string
}

/** A call as it was proposed; arguments as a gate sees them. */
export interface ProposedCall {
  readonly toolId: string
  readonly arguments: Json.JsonObject
}

/** `undefined` for a tool that is neither `write` nor `edit`. Throws `ToolError` where the tool would refuse the file or the text. */
export const previewChange = (workspace: Workspace.Workspace, call: ProposedCall): FileChange | undefined => {
  if (call.toolId === Edit.id) return at(workspace, { call, look: (found) => edited(found, call) })
  return call.toolId === Write.id ? at(workspace, { call, look: (found) => written(found, call) }) : undefined
}

interface Looking {
  readonly call: ProposedCall
  readonly look: (found: Found) => FileChange
}

const at = (workspace: Workspace.Workspace, { call: { toolId, arguments: given }, look }: Looking): FileChange => {
  const { file_path } = given
  const argument = { toolId, pointer: "/file_path", path: typeof file_path === "string" ? file_path : "" }
  return within(workspace, argument, (found) => {
    try {
      return look(found)
    } catch (thrown) {
      throw explain(thrown, argument)
    }
  })
}

const edited = (found: Found, { toolId, arguments: given }: ProposedCall): FileChange => {
  const edits = editsOf(argumentsOf(Edit, given))
  const { text } = textOf(found) ?? {}
  if (text === undefined)
    throw refuse({ toolId, pointer: "/file_path", expected: "a text file", received: "a binary one" })
  const made = replaceTexts(text, edits)
  if (!made.ok) throw ToolArgs.invalidArguments(toolId, made.issues)
  return { file_path: Workspace.show(found.names), replaces: "text", before: text, after: made.text }
}

const written = (found: Found, { arguments: given }: ProposedCall): FileChange => {
  const { content } = argumentsOf(Write, given)
  const file_path = Workspace.show(found.names)
  const after = content.toWellFormed()
  if (found.entry === undefined) return { file_path, replaces: "none", before: "", after }
  const now = textOf(found)
  if (now === undefined) return { file_path, replaces: "binary", before: "", after }
  // `write` keeps neither line ends nor a byte order mark: what it replaces is shown with its own.
  const before = now.lineEnd === "\r\n" ? now.text.replaceAll("\n", "\r\n") : now.text
  return { file_path, replaces: "text", before: now.mark ? `\ufeff${before}` : before, after }
}

/** `undefined` for a file that is no text. */
const textOf = ({ parent, name, entry }: Found): FileText | undefined => {
  if (entry === undefined) throw new FileProblem("Missing")
  return decode(readWhole(parent, name === "" ? "." : name).bytes)
}

const argumentsOf = <A extends TSchema>(
  definition: Tool.Definition<string, A, TSchema | undefined>,
  given: Json.JsonObject
): Static<A> => {
  const read = definition["~standard"].validate(given)
  // A definition answers at once; the type is that of the standard.
  if ("value" in read && read.issues === undefined) return read.value
  const parsed = ToolArgs.parseToolArgs(definition.spec, given)
  throw parsed.ok ? new TypeError(`${definition.id}: the arguments were read in two ways`) : parsed.error
}
