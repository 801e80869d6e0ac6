/**
 * Shell command lines, read by a real grammar (GNU Bash's), into what they would do.
 *
 * Guarantees: lists, pipes, subshells, substitutions, here-documents, redirections, assignments, wrappers and scripts in
 * arguments are seen; what cannot be understood is a problem and is asked about, whatever the rest says; pure and
 * synchronous.
 * Does not decide, does not read files or variables, and knows no grammar but Bash's.
 */
import { analyse as walk } from "./internal/shellWalk.js"
import type { ShellAnalyser } from "./ShellAnalysis.js"

export type * from "./ShellAnalysis.js"

const none: ReadonlySet<string> = new Set()

/** What the line would do. Never throws. */
export const analyse: ShellAnalyser = (line, variables = none) => walk(line, variables)
