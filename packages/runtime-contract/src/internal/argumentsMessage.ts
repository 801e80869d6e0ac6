/**
 * The text by which a model learns what was wrong with a call and how to mend it.
 *
 * Guarantees: at most eight places, one line each, with what was expected, what came and the fix.
 * Does not find the issues: parsing and `explainIssues` do.
 */
import type { ArgumentIssue } from "../ToolError.js"
import { shorten } from "./describeValue.js"
import { maxIssues } from "./schemaInterpreter.js"

/** `before`: refused before the call, so that nothing can have happened. A tool's own checks cannot promise that. */
export const argumentsMessage = (
  toolId: string,
  { issues, before }: { readonly issues: ReadonlyArray<ArgumentIssue>; readonly before: boolean }
): string => {
  const lines = issues.slice(0, maxIssues).map(line)
  return [`Invalid arguments for ${shorten(toolId, 64)}${before ? "; the tool was not run" : ""}.`, ...lines].join("\n")
}

const line = ({ pointer, expected, received, fix }: ArgumentIssue): string => {
  const place = pointer === "" ? "the arguments" : shorten(pointer, 400)
  return oneLine(`- ${place}: expected ${expected}, received ${received}${fix === undefined ? "" : `; ${fix}`}`)
}

// A key or a pattern may hold line breaks, and a list item that ends early would look like two.
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
