/**
 * Finds a path of a call in a workspace and holds it open while it is used.
 *
 * Guarantees: closed again however the use ends; a path that leads out or nowhere is an argument to correct.
 */
import { ToolArgs, type ToolError } from "@toolwright/runtime-contract"
import type { Workspace } from "../Workspace.js"
import { type Found, walkPath, type WalkOptions, type WalkProblem } from "./walkPath.js"

/** One path of a call. `pointer` is its place in the arguments, `toolId` whose call it is. */
export interface PathArgument extends WalkOptions {
  readonly toolId: string
  readonly pointer: string
  readonly path: string
}

/** Finds a path and keeps it open for `use`. Throws `ToolError` (`InvalidArguments`) for one that leads out or nowhere. */
export const within = <A>(workspace: Workspace, argument: PathArgument, use: (found: Found) => A): A => {
  const found = walkPath(workspace.place, argument.path, argument)
  if (!found.ok) throw refused(argument, found.problem)
  let isLater = false
  try {
    const result = use(found)
    if (result instanceof Promise) {
      isLater = true
      // The same promise with the directory closed behind it.
      return result.finally(found.close) as A
    }
    return result
  } finally {
    if (!isLater) found.close()
  }
}

const problems: Readonly<Record<WalkProblem, readonly [expected: string, fix: string]>> = {
  Outside: [
    "a path inside the workspace",
    "use a path below the workspace; links that lead out of it are not followed"
  ],
  Loop: ["a path whose links come to an end", "use another path; its links lead in a circle"],
  NotADirectory: ["a path whose parent is a directory", "look at the parent with `list` first"],
  BadName: ["a usable file name", "send a path that is not empty, not overlong and has no NUL"]
}

const refused = ({ toolId, pointer, path: received }: PathArgument, problem: WalkProblem): ToolError => {
  const [expected, fix] = problems[problem]
  return ToolArgs.invalidArguments(toolId, [
    { pointer, expected, received: JSON.stringify(received).slice(0, 300), fix }
  ])
}
