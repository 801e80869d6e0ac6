/**
 * Standard output and standard error, as the demo uses them.
 *
 * Guarantees: with `--json` nothing but the transcript goes to standard output; a reader that goes away ends the demo
 * without noise; a failure is one line and no stack trace.
 * Does not read anything.
 */
import type { CommandLine } from "../CommandLine.js"
import type { Paper } from "../Page.js"

/** Columns of a pipe: long enough for most results, short enough to read. */
const pipedColumns = 160

export const paperFor = (wanted: CommandLine): Paper => {
  const stream = wanted.json ? process.stderr : process.stdout
  return {
    write: (text) => void stream.write(text),
    // Some terminals do not know their width and say 0.
    columns: () => (stream.isTTY ? stream.columns || 80 : pipedColumns),
    color: wanted.color && stream.isTTY,
    isLive: stream.isTTY
  }
}

export const quietPipes = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
      process.exit(0)
    })
}

export const failureText = (error: unknown): string =>
  `toolwright demo: ${error instanceof Error ? error.message : String(error)}\n`

/** Node 22 warns that its SQLite is experimental, which tells nobody here anything. */
export const quietWarnings = (): void => {
  process.removeAllListeners("warning")
  process.on("warning", ({ name, message }) => {
    const isKnown = name === "ExperimentalWarning" && message.startsWith("SQLite")
    if (!isKnown) process.stderr.write(`${name}: ${message}\n`)
  })
}
