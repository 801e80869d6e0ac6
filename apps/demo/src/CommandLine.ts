/**
 * What was asked for on the command line.
 *
 * Guarantees: an option that does not exist, or that cannot be used so, is an error that names it; everything else is the
 * request, word for word.
 * Does not read the environment but for `NO_COLOR`, as no-color.org asks, and `OPEN_METEO_URL`.
 */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { CrashPoint } from "@toolwright/runtime-contract"

/** What is done instead of a talk. The request says more. */
export type Action = "threads" | "cancel" | "steer" | "explain"

export interface CommandLine {
  readonly help: boolean
  /** The committed transcript on standard output, everything else on standard error. */
  readonly json: boolean
  /** Recorded weather only. */
  readonly offline: boolean
  readonly color: boolean
  readonly notes: string
  /** The address of an Open-Meteo of one's own. */
  readonly weather: string | undefined
  /** `provider:name`; absent: the environment decides. */
  readonly model: string | undefined
  readonly policy: string
  /** Absent: threads are forgotten with the process. */
  readonly db: string | undefined
  /** The beginning of a thread's id, or the newest thread; absent: a new one. */
  readonly thread: string | { readonly newest: true } | undefined
  readonly crashAt: CrashPoint.CrashPointName | undefined
  /** The folder to work on; absent: a scratch copy of the example project, or none where threads outlive the process. */
  readonly workspace: string | undefined
  /** Leave the scratch copy where it is. */
  readonly keep: boolean
  /** Nothing that writes. */
  readonly plan: boolean
  /** Run the tools of the folder without a sandbox. */
  readonly unsafeLocal: boolean
  readonly action: Action | undefined
  /** The beginning of the ids of the threads whose record is asked for; empty: all. */
  readonly audit: string | undefined
  /** Empty: a conversation. */
  readonly request: string
}

export class CommandLineError extends Error {
  override readonly name = "CommandLineError"
}

export const usage = `toolwright demo: a conversation with an agent that calls tools

  npm start                          talk, and work on a scratch copy of a small project; /help inside
  npm start -- --workspace DIR       work on a folder of your own
  npm start -- "REQUEST"             one turn, then exit
  echo "REQUEST" | npm start         one turn for each line, nobody to approve

  --workspace DIR  read, search, edit and run commands in this folder, in a sandbox
  --plan          nothing that writes: look, and say what would be done
  --keep          leave the scratch copy of the example project where it is
  --unsafe-local  without a sandbox: commands run with all your rights, and each is asked about

  --model PROVIDER:NAME  openai:NAME, anthropic:NAME, local:NAME or offline
  --policy FILE   who may call what (default: the policy.json of the demo)
  --explain TEXT  what the policy says of a request, or of TOOL {"argument": ...}; nothing runs
  --json          print the committed transcript as JSON
  --offline       recorded weather only, no network
  --notes FOLDER  where notes and the list are written (default: a folder for temporary files)
  --no-color      no colours (also NO_COLOR)
  --help          this

  --db FILE       keep threads in this file, outside of DIR; a thread that was cut off goes on
  --threads       list them
  --audit [ID]    the record of one of them, or of all: who asked what, which rule decided, who approved, what ran
  --thread ID     go on with one of them
  --continue      go on with the newest
  --cancel        end the run that is open on the thread, wherever it runs
  --steer TEXT    say something to the run that is open on the thread
  --crash-at POINT  kill this process there, to see the next start recover

  OPENAI_API_KEY, ANTHROPIC_API_KEY   talk to a real model
  OPENAI_BASE_URL                     talk to a server of your own
  OPEN_METEO_URL                      an Open-Meteo of your own instead of the public one

Try: npm start -- "run the tests"
     npm start -- "weather in Lisbon and Oslo, then what is 17% of 2380"
`

const flags = [
  "--help",
  "--json",
  "--offline",
  "--no-color",
  "--continue",
  "--threads",
  "--audit",
  "--cancel",
  "--steer",
  "--explain",
  "--plan",
  "--keep",
  "--unsafe-local"
]

/** Options with a value behind them, and what it is. */
const valued = {
  "--notes": "FOLDER",
  "--model": "PROVIDER:NAME",
  "--policy": "FILE",
  "--db": "FILE",
  "--thread": "ID",
  "--crash-at": "POINT",
  "--workspace": "DIR"
} as const

type Valued = keyof typeof valued

const isValued = (word: string): word is Valued => Object.hasOwn(valued, word)

interface Words {
  readonly given: ReadonlySet<string>
  readonly values: Readonly<Partial<Record<Valued, string>>>
  readonly request: string
}

export const readCommandLine = (
  words: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): CommandLine => {
  const { given, values, request } = sort(words)
  const action = actions.find((each) => given.has(`--${each}`))
  const thread = values["--thread"] ?? (given.has("--continue") ? ({ newest: true } as const) : undefined)
  checkTogether({ given, values, request })
  return {
    help: given.has("--help"),
    json: given.has("--json"),
    offline: given.has("--offline"),
    color: !given.has("--no-color") && (environment["NO_COLOR"] ?? "") === "",
    notes: values["--notes"] ?? join(tmpdir(), "toolwright-notes"),
    weather: environment["OPEN_METEO_URL"],
    model: values["--model"],
    policy: values["--policy"] ?? fileURLToPath(new URL("../policy.json", import.meta.url)),
    db: values["--db"],
    thread,
    crashAt: crashPoint(values["--crash-at"]),
    workspace: values["--workspace"],
    keep: given.has("--keep"),
    plan: given.has("--plan"),
    unsafeLocal: given.has("--unsafe-local"),
    action,
    audit: given.has("--audit") ? (values["--thread"] ?? request) : undefined,
    request
  }
}

const actions: ReadonlyArray<Action> = ["threads", "cancel", "steer", "explain"]

const sort = (words: ReadonlyArray<string>): Words => {
  const given = new Set<string>()
  const values: Partial<Record<Valued, string>> = {}
  const request: Array<string> = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ""
    if (word === "--") {
      request.push(...words.slice(index + 1))
      break
    }
    if (!word.startsWith("-") || /^-[\d.(]/.test(word)) request.push(word)
    else if (isValued(word)) values[word] = valueOf(word, words[++index])
    else given.add(known(word))
  }
  return { given, values, request: request.join(" ").trim() }
}

const known = (word: string): string => {
  const option = word === "-h" ? "--help" : word
  if (flags.includes(option)) return option
  const all = [...flags, ...Object.entries(valued).map(([name, value]) => `${name} ${value}`)]
  throw new CommandLineError(`unknown option ${word}; known are ${all.join(", ")}`)
}

const valueOf = (option: Valued, value: string | undefined): string => {
  if (value !== undefined && value !== "" && !value.startsWith("--")) return value
  throw new CommandLineError(`${option}: expected ${valued[option]} behind it`)
}

const crashPoint = (name: string | undefined): CrashPoint.CrashPointName | undefined => {
  if (name === undefined) return undefined
  const found = CrashPoint.names.find((each) => each === name)
  if (found !== undefined) return found
  throw new CommandLineError(`--crash-at ${name}: expected one of ${CrashPoint.names.join(", ")}`)
}

/** Options that mean nothing without another, or beside one. */
const checkTogether = ({ given, values, request }: Words): void => {
  const asked = [...actions, "audit"].filter((each) => given.has(`--${each}`))
  if (asked.length > 1) throw new CommandLineError(`--${asked[0]} and --${asked[1]}: expected one of them`)
  if (given.has("--audit") && given.has("--continue"))
    throw new CommandLineError("--audit and --continue: expected one of them; --audit ID shows one thread")
  if (values["--thread"] !== undefined && given.has("--continue"))
    throw new CommandLineError("--thread and --continue: expected one of them")
  const kept = ["--threads", "--audit", "--continue", "--cancel", "--steer"].find((flag) => given.has(flag))
  const needsFile = kept ?? (values["--thread"] === undefined ? undefined : "--thread")
  if (needsFile !== undefined && values["--db"] === undefined)
    throw new CommandLineError(`${needsFile}: expected --db FILE beside it`)
  if (given.has("--keep") && (values["--workspace"] ?? values["--db"]) !== undefined)
    throw new CommandLineError("--keep: expected neither --workspace nor --db beside it; there is no scratch copy")
  const said = ["--steer", "--explain"].find((flag) => given.has(flag))
  if (said !== undefined && request === "") throw new CommandLineError(`${said}: expected a text behind it`)
}
