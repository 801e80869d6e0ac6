/**
 * Lists a folder of the workspace, one or several levels deep.
 *
 * Guarantees: bounded; links are named as links and not followed; what `.gitignore` names is left out unless asked for.
 * Does not read files.
 */
import { Tool } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { look } from "./internal/heldDirectory.js"
import { openFolder } from "./internal/searchFolder.js"
import { shownName } from "./internal/shownName.js"
import { type Entry, walkTree } from "./internal/walkTree.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const mostShown = 1_000

const args = Type.Object({
  path: Type.String({ default: ".", minLength: 1, maxLength: 4096, description: "A folder; default the workspace" }),
  depth: Type.Integer({ default: 1, minimum: 1, maximum: 10, description: "Levels" }),
  all: Type.Boolean({ default: false, description: "Also what .gitignore leaves out" })
})

const output = Type.Object({
  path: Type.String(),
  entries: Type.Array(
    Type.Object({
      path: Type.String({ description: "From the listed folder" }),
      type: Type.Union([Type.Literal("file"), Type.Literal("directory"), Type.Literal("link"), Type.Literal("other")]),
      size: Type.Integer({ description: "Bytes; 0 for anything but files" })
    })
  ),
  truncated: Type.Boolean()
})

type Listed = Static<typeof output>["entries"][number]

/** Needs no workspace to be described. */
export const List = Tool.define({
  id: "list",
  description:
    "List a folder with types and sizes, in order of names. At most 1,000 entries; .git and ignored files are left out.",
  args,
  output,
  recovery: "ReplaySafe",
  target: "Sandbox",
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. */
export const list = ({ workspace }: Pick<Place, "workspace">): Tool.Tool<"list", typeof args, typeof output> =>
  Tool.implement(
    {
      ...List,
      concurrency: ({ path }) => Workspace.claims(workspace, [{ path, access: "Read" }])
    },
    (given, { signal }) =>
      within(workspace, { toolId: List.id, pointer: "/path", path: given.path }, async (found) => {
        const folder = openFolder(found, { toolId: List.id, path: given.path })
        const entries: Array<Listed> = []
        let truncated = false
        try {
          const walked = await walkTree(folder.directory, {
            signal,
            depth: given.depth,
            obeyIgnoreFiles: !given.all,
            visit: (entry) => {
              truncated = entries.length >= mostShown
              if (!truncated) entries.push(listed(entry))
              return !truncated
            }
          })
          truncated ||= !walked.complete
        } finally {
          folder.close()
        }
        const path = Workspace.show(found.names)
        return Tool.result(
          { path, entries, truncated },
          { content: [{ type: "text", text: textOf(path, { entries, truncated }) }] }
        )
      })
  )

const listed = ({ path, name, type, directory }: Entry): Listed => ({
  path,
  type,
  size: type === "file" ? Number(look(directory, name)?.size ?? 0) : 0
})

const textOf = (path: string, { entries, truncated }: Pick<Static<typeof output>, "entries" | "truncated">): string => {
  if (entries.length === 0) return `${shownName(path)} is empty`
  const lines = entries.map(({ path: name, type, size }) => {
    if (type === "directory") return `${shownName(name)}/`
    return type === "file" ? `${shownName(name)}\t${size}` : `${shownName(name)} (${type})`
  })
  return [...lines, ...(truncated ? ["(there is more: list a folder further down)"] : [])].join("\n")
}
