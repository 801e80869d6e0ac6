/**
 * The commands that a shell line would run, one for each line: what the policy was asked about.
 *
 * Guarantees: read by the grammar that the policy reads; what was not understood is said.
 * Does not decide and does not run.
 */
import { ApprovalText } from "@toolwright/permissions"
import type { InkedLine } from "../Page.js"

export const commandsIn = async (line: string): Promise<ReadonlyArray<InkedLine>> => {
  const { ShellCommand } = await import("@toolwright/permissions/shell")
  const { parts, files, problems } = ShellCommand.analyse(line)
  const runs = parts.filter(({ role }) => role === "Runs").map(({ exact }) => written(exact))
  const writes = files.filter(({ access }) => access === "Write").map(({ path }) => `writes ${written(path)}`)
  return [
    ...[...new Set([...runs, ...writes])].map((text): InkedLine => ({ ink: "plain", text })),
    ...problems.map((problem): InkedLine => ({ ink: "yellow", text: `not understood: ${written(problem)}` }))
  ]
}

/** NUL stands for what is known only when it runs. */
const written = (text: string): string => ApprovalText.showLine(text.replaceAll("\0", "…"))
