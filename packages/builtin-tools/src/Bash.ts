/**
 * Runs a command line in a shell whose working directory stays from call to call.
 *
 * Guarantees: ends with everything that it started, by itself, in time or when it is cancelled; long output is shown from
 * both ends and kept whole in a file of the workspace; what terminals would obey is taken out of the text.
 * Does not keep variables or functions between calls, and does not contain the command: it is for a sandbox.
 */
import { StateKey, Tool, ToolConcurrency, ToolError } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { refuse } from "./internal/fileRefusals.js"
import { defaultLimits, type Ended, runShell, type ShellLimits, type ShellResult } from "./internal/runShell.js"
import { openSpill } from "./internal/spillFile.js"
import { walkPath } from "./internal/walkPath.js"
import type { Workspace } from "./Workspace.js"

const args = Type.Object({
  command: Type.String({ minLength: 1, maxLength: 100_000, description: "A command line for bash" }),
  timeout: Type.Integer({ default: 120_000, minimum: 1, maximum: 600_000, description: "Milliseconds" })
})

const output = Type.Object({
  exit_code: Type.Union([Type.Integer(), Type.Null()], { description: "Null where the command was ended" }),
  ended: Type.Union([Type.String(), Type.Null()], { description: "Why it was ended before its own end" }),
  directory: Type.String({ description: "Where the next command starts, from the workspace" }),
  truncated: Type.Boolean(),
  output_file: Type.Optional(Type.String({ description: "The whole output, from the workspace" }))
})

/** Where the next command of a thread starts, from the workspace. */
export const ShellDirectory = StateKey.make({ name: "shell_directory", schema: Type.String() })

/** Needs no workspace to be described. */
export const Bash = Tool.define({
  id: "bash",
  description: [
    "Run a command line in bash. The working directory stays for the next call; variables and functions do not.",
    "There is no input and no terminal. Everything that the command started is ended when it ends: nothing stays in the background.",
    "Of long output the first and the last 16,000 characters are shown, and the whole is kept in a file that `read` and `grep` can use.",
    "Use `read`, `edit`, `glob` and `grep` for files instead of cat, sed, find and grep."
  ].join(" "),
  args,
  output,
  recovery: "NonRecoverable",
  target: "Sandbox",
  state: [ShellDirectory],
  concurrency: () => ToolConcurrency.Serial,
  attribution: { provenance: "Native" }
})

export interface ShellPlace {
  readonly workspace: Workspace
  /** True only inside a box whose processes are all its own: then every new process belongs to the command. */
  readonly contained: boolean
  /** All that the command sees. Default: PATH, HOME, LANG, TMPDIR, TZ of this process, and TERM=dumb. */
  readonly environment?: Readonly<Record<string, string>>
  readonly limits?: Partial<ShellLimits>
}

/** The tool over a workspace. */
export const bash = (place: ShellPlace): Tool.Tool<"bash", typeof args, typeof output> => {
  const directories = new Map<string, ReadonlyArray<string>>()
  return Tool.implement(Bash, async (given, context) => {
    if (given.command.trim() === "" || given.command.includes("\0"))
      throw refuse({
        toolId: Bash.id,
        pointer: "/command",
        expected: "a command",
        received: "a blank one, or one with NUL"
      })
    const { threadId } = context.operation
    const before = directories.get(threadId) ?? split(context.operation.state.get(ShellDirectory) ?? "")
    const start = existing(place.workspace, before)
    const result = await run({ place, given, start }, context)
    if (result.ended === "abort") throw ToolError.execution(cut(result))
    const stood = insideOf(place.workspace, result.directory)
    const directory = stood ?? (result.directory === undefined ? start : [])
    directories.set(threadId, directory)
    const isLeft = stood === undefined && result.directory !== undefined
    return answer({ result, given, directory, isMoved: start !== before, isLeft })
  })
}

const split = (path: string): ReadonlyArray<string> => path.split("/").filter((name) => name !== "" && name !== ".")

/** The names of a folder of the workspace that exists, else those of the workspace itself. */
const existing = ({ place }: Workspace, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = names.length === 0 ? undefined : walkPath(place, names.join("/"))
  if (found?.ok !== true) return names.length === 0 ? names : []
  found.close()
  return found.entry?.isDirectory() === true && found.names.join("/") === names.join("/") ? names : []
}

/** The shell says where it stands; that is only believed as far as it lies inside. `undefined` where it does not. */
const insideOf = ({ place }: Workspace, directory: string | undefined): ReadonlyArray<string> | undefined => {
  if (directory?.startsWith("/") !== true) return undefined
  const found = walkPath(place, directory)
  if (!found.ok) return undefined
  found.close()
  return found.entry?.isDirectory() === true ? found.names : undefined
}

interface Running {
  readonly place: ShellPlace
  readonly given: Static<typeof args>
  readonly start: ReadonlyArray<string>
}

const run = (
  { place, given, start }: Running,
  { operation, signal, progress }: Tool.CallContext
): Promise<ShellResult> =>
  runShell({
    command: given.command,
    directory: [place.workspace.root, ...start].join("/"),
    environment: place.environment ?? ownEnvironment(),
    timeout: given.timeout,
    signal,
    contained: place.contained,
    limits: { ...defaultLimits, ...place.limits },
    openSink: () => openSpill(place.workspace.root, operation.operationId),
    progress
  })

const passedOn = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER"]

const ownEnvironment = (): Readonly<Record<string, string>> => ({
  TERM: "dumb",
  ...Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
})

const sayings: Readonly<Record<Ended, string>> = {
  timeout: "it took longer than its timeout",
  abort: "it was cancelled",
  processes: "it started too many processes",
  memory: "it used too much memory",
  disk: "it filled the disk",
  output: "it wrote too much output"
}

const cut = ({ ended, text }: ShellResult): string =>
  `the command was ended: ${ended === undefined ? "" : sayings[ended]}${text === "" ? "" : `\n${text}`}`

interface Answering {
  readonly result: ShellResult
  readonly given: Static<typeof args>
  readonly directory: ReadonlyArray<string>
  /** The directory of the last call was gone. */
  readonly isMoved: boolean
  /** The shell ended in a folder that is outside, or gone. */
  readonly isLeft: boolean
}

const answer = ({ result, given, directory, isMoved, isLeft }: Answering): Tool.Result<Static<typeof output>> => {
  const { exitCode, exitSignal, ended, text, truncated, file, isAllGone } = result
  const path = directory.length === 0 ? "." : directory.join("/")
  const notes = [
    ...(isMoved ? ["(the working directory was gone; the command ran in the workspace)"] : []),
    ...(isLeft ? ["(the shell ended outside of the workspace; the next command starts in the workspace)"] : []),
    ...(ended === undefined
      ? []
      : [`(ended: ${sayings[ended]}${ended === "timeout" ? ` of ${given.timeout} ms` : ""})`]),
    ...(ended !== undefined || (exitCode === 0 && exitSignal === null)
      ? []
      : [`(exit ${exitSignal ?? `code ${exitCode}`})`]),
    ...(isAllGone ? [] : ["(a process of the command may still run)"])
  ]
  const shown = [...(text === "" ? [] : [text.replace(/\n$/, "")]), ...notes].join("\n")
  const data = {
    exit_code: ended === undefined ? exitCode : null,
    ended: ended ?? null,
    directory: path,
    truncated,
    ...(file === undefined ? {} : { output_file: file })
  }
  const state = [StateKey.set(ShellDirectory, path)]
  return Tool.result(data, { state, content: [{ type: "text", text: shown === "" ? "(no output)" : shown }] })
}
