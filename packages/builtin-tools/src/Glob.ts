/**
 * Finds files of the workspace by a pattern over their paths.
 *
 * Guarantees: `*` stops at `/`, `**` does not; names that begin with a dot are names like others; ignored files are left
 * out; newest first; bounded.
 * Does not look into files: `grep` does.
 */
import picomatch from "picomatch"
import { Tool } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { refuse } from "./internal/fileRefusals.js"
import { inTime } from "./internal/boundedTime.js"
import { look } from "./internal/heldDirectory.js"
import { openFolder } from "./internal/searchFolder.js"
import { shownName } from "./internal/shownName.js"
import { walkTree } from "./internal/walkTree.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const mostShown = 1_000

const args = Type.Object({
  pattern: Type.String({ minLength: 1, maxLength: 500, description: "For example **/*.ts or src/{a,b}/*.json" }),
  path: Type.String({
    default: ".",
    minLength: 1,
    maxLength: 4096,
    description: "Where to start; default the workspace"
  })
})

const output = Type.Object({
  files: Type.Array(Type.String({ description: "From the workspace" })),
  truncated: Type.Boolean()
})

/** Needs no workspace to be described. */
export const Glob = Tool.define({
  id: "glob",
  description:
    "Find files by path pattern, newest first. At most 1,000 files; .git and what .gitignore names are left out.",
  args,
  output,
  recovery: "ReplaySafe",
  target: "Sandbox",
  attribution: { provenance: "Native" }
})

/** The tool over a workspace. */
export const glob = ({ workspace }: Pick<Place, "workspace">): Tool.Tool<"glob", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Glob,
      concurrency: ({ path }) => Workspace.claims(workspace, [{ path, access: "Read" }])
    },
    (given, { signal }) => {
      const matches = compile(given.pattern)
      return within(workspace, { toolId: Glob.id, pointer: "/path", path: given.path }, async (found) => {
        const folder = openFolder(found, { toolId: Glob.id, path: given.path })
        const hits: Array<{ readonly path: string; readonly changed: bigint }> = []
        try {
          const walked = await walkTree(folder.directory, {
            signal,
            visit: ({ path, name, type, directory }) => {
              if (type === "file" && matches(path)) hits.push({ path, changed: look(directory, name)?.mtimeNs ?? 0n })
              return true
            }
          })
          hits.sort((left, right) =>
            left.changed > right.changed ? -1 : left.changed < right.changed ? 1 : left.path < right.path ? -1 : 1
          )
          const files = hits.slice(0, mostShown).map(({ path }) => [...found.names, path].join("/"))
          return answer({ files, truncated: hits.length > mostShown || !walked.complete })
        } finally {
          folder.close()
        }
      })
    }
  )

/** A path matcher. Throws where one path takes too long, which only a pattern that was made for it does. */
export const compilePattern = (pattern: string): ((path: string) => boolean) => {
  const matches = picomatch(pattern.replace(/^\.\//, ""), {
    dot: true,
    noextglob: true,
    nonegate: true,
    strictSlashes: true
  })
  if ((pattern.match(/\*+|\{/g) ?? []).length <= mostChoices && !pattern.includes("(")) return matches
  return (path) => {
    try {
      return inTime(longestMatch, () => matches(path))
    } catch {
      throw refuse({
        toolId: Glob.id,
        pointer: "/pattern",
        expected: "a pattern that is matched quickly",
        received: JSON.stringify(pattern),
        fix: "use fewer stars and braces"
      })
    }
  }
}

/** Stars and braces that any path is matched with at once; each one more multiplies the time by the length of a name. */
const mostChoices = 3
/** Milliseconds for one path. */
const longestMatch = 200

const compile = (pattern: string): ((path: string) => boolean) => {
  const outside = pattern.startsWith("/") || pattern.split("/").includes("..")
  if (outside)
    throw refuse({
      toolId: Glob.id,
      pointer: "/pattern",
      expected: "a pattern relative to path",
      received: JSON.stringify(pattern),
      fix: "put the folder into path and keep only the rest in pattern"
    })
  return compilePattern(pattern)
}

const answer = ({ files, truncated }: Static<typeof output>): Tool.Result<Static<typeof output>> => {
  const lines = files.map(shownName)
  const text =
    files.length === 0
      ? "no file matches"
      : [...lines, ...(truncated ? ["(there are more: narrow the pattern)"] : [])].join("\n")
  return Tool.result({ files, truncated }, { content: [{ type: "text", text }] })
}
