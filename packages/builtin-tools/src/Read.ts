/**
 * Reads one file of the workspace: text by lines, images as images, anything else described.
 *
 * Guarantees: bounded output with the place where to go on; no link leads out of the workspace; devices and pipes are
 * not opened; the version that was read is remembered for `edit` and `write`.
 * Does not decode national encodings and does not open archives or documents.
 */
import { Tool } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { readWhole } from "./internal/fileContent.js"
import { explain, refuse } from "./internal/fileRefusals.js"
import { absent, FilesSeen, type SeenFiles } from "./internal/filesSeen.js"
import { decode, imageTypeOf, versionOf } from "./internal/fileText.js"
import { numberedLines } from "./internal/numberedLines.js"
import { shownName } from "./internal/shownName.js"
import { type Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import * as Workspace from "./Workspace.js"

/** Bytes of an image that is shown. Larger ones are refused by most providers. */
const largestImage = 3_500_000

const args = Type.Object({
  file_path: Type.String({ minLength: 1, maxLength: 4096, description: "Absolute, or relative to the workspace" }),
  offset: Type.Integer({ default: 1, minimum: 1, description: "First line, from 1" }),
  limit: Type.Integer({ default: 2000, minimum: 1, maximum: 2000, description: "Number of lines" })
})

const output = Type.Object({
  file_path: Type.String({ description: "From the workspace" }),
  kind: Type.Union([Type.Literal("text"), Type.Literal("image"), Type.Literal("binary")]),
  size: Type.Integer({ description: "Bytes" }),
  version: Type.String({ description: "Changes with every change of the content" }),
  first_line: Type.Optional(Type.Integer()),
  last_line: Type.Optional(Type.Integer({ description: "0 for an empty file" })),
  total_lines: Type.Optional(Type.Integer())
})

export type Output = Static<typeof output>

/** Needs no workspace to be described. */
export const Read = Tool.define({
  id: "read",
  description: [
    "Read a file. Text comes with line numbers and a tab before each line; these are not part of the file.",
    "At most 2000 lines and about 48,000 characters at once; lines over 2,000 characters are cut. Use offset and limit for more.",
    "Images (PNG, JPEG, GIF, WebP up to 3.5 MB) are shown; other binary files are only described. Files up to 10 MiB.",
    "Several files can be read in parallel."
  ].join(" "),
  args,
  output,
  recovery: "ReplaySafe",
  target: "Sandbox",
  state: [FilesSeen],
  attribution: { provenance: "Native" }
})

/** What a file tool works with. */
export interface Place {
  readonly workspace: Workspace.Workspace
  /** Shared by the file tools of one set. */
  readonly seen: SeenFiles
}

/** The tool over a workspace. */
export const read = ({ workspace, seen }: Place): Tool.Tool<"read", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Read,
      concurrency: ({ file_path }) => Workspace.claims(workspace, [{ path: file_path, access: "Read" }])
    },
    (given, context) => {
      const argument = { toolId: Read.id, pointer: "/file_path", path: given.file_path }
      return within(workspace, argument, (found) => {
        try {
          return readFound({ found, given, seen }, context)
        } catch (thrown) {
          throw explain(thrown, argument)
        }
      })
    }
  )

interface Reading {
  readonly found: Found
  readonly given: Static<typeof args>
  readonly seen: SeenFiles
}

const readFound = ({ found, given, seen }: Reading, context: Tool.CallContext): Tool.Result<Output> => {
  const file_path = Workspace.show(found.names)
  if (found.entry === undefined) {
    seen.saw(context, { [file_path]: absent })
    throw refuse({
      toolId: Read.id,
      pointer: "/file_path",
      expected: "a file that exists",
      received: JSON.stringify(given.file_path),
      fix: "look for it with `glob` or `list`"
    })
  }
  const { bytes } = readWhole(found.parent, found.name === "" ? "." : found.name)
  const version = versionOf(bytes)
  const state = [seen.saw(context, { [file_path]: version })]
  const known = { file_path, size: bytes.length, version }
  const mediaType = imageTypeOf(bytes)
  if (mediaType !== undefined && bytes.length <= largestImage) {
    const content = [{ type: "image" as const, mediaType, data: bytes.toString("base64") }]
    return Tool.result({ ...known, kind: "image" as const }, { state, content })
  }
  const decoded = mediaType === undefined ? decode(bytes) : undefined
  if (decoded === undefined) {
    const what = mediaType === undefined ? "a binary file" : `an image (${mediaType}) that is too large to show`
    const content = [{ type: "text" as const, text: `${shownName(file_path)} is ${what}: ${bytes.length} bytes` }]
    return Tool.result({ ...known, kind: "binary" as const }, { state, content })
  }
  const { text, first, last, total } = numberedLines(decoded.text, given)
  const lines = { first_line: first, last_line: last, total_lines: total }
  return Tool.result({ ...known, kind: "text" as const, ...lines }, { state, content: [{ type: "text", text }] })
}
