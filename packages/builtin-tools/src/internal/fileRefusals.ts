/**
 * What a model is told when a file tool refuses: which argument, what was expected, what to do instead.
 *
 * Guarantees: every refusal here means that nothing was changed, so the model may correct the call at once.
 */
import { ToolArgs, type ToolError } from "@toolwright/runtime-contract"
import { FileProblem, largestFile } from "./fileContent.js"

export interface Refusal {
  readonly toolId: string
  readonly pointer: string
  readonly expected: string
  readonly received: string
  readonly fix?: string
}

export const refuse = ({ toolId, ...issue }: Refusal): ToolError => ToolArgs.invalidArguments(toolId, [issue])

const sayings: Readonly<Record<FileProblem["code"], readonly [expected: string, received: string, fix: string]>> = {
  TooLarge: [
    `a file of at most ${largestFile} bytes`,
    "a larger one",
    "search it with `grep`, or cut it with a command"
  ],
  NotAFile: [
    "a plain file",
    "something else",
    "a directory is shown by `list`; devices, pipes and sockets are not opened"
  ],
  Missing: ["a file that exists", "no such file", "look for it with `glob` or `list`"],
  Changed: [
    "a file that nobody changes meanwhile",
    "one that changed just now",
    "read it again, then repeat the change"
  ],
  Exists: ["a free name", "one that is taken", "read what is there first"],
  Denied: ["a file that may be used so", "one that the system protects", "leave it alone, or ask the user"]
}

/** A `FileProblem` as the model reads it; anything else as it is. */
export const explain = (thrown: unknown, { toolId, pointer }: Pick<Refusal, "toolId" | "pointer">): unknown => {
  if (!(thrown instanceof FileProblem)) return thrown
  const [expected, received, fix] = sayings[thrown.code]
  return refuse({ toolId, pointer, expected, received, fix })
}
