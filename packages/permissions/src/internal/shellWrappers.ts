/**
 * Commands that start other commands, as data: which options they take, and where the inner command begins.
 *
 * Guarantees: an option that is not in the table is not guessed at; the caller is told that the rest was not understood.
 */
import { hole } from "./glob.js"
import { baseName, isKnown, literalWord, type ShellWord, unknownWords } from "./shellWords.js"

interface Wrapper {
  /** Options without a value, long ones with both dashes. */
  readonly flags?: string
  /** Options with a value, in the same word or the next. */
  readonly values?: string
  readonly longFlags?: ReadonlyArray<string>
  readonly longValues?: ReadonlyArray<string>
  /** Words between the options and the inner command. */
  readonly positional?: number
  /** May be followed by assignments. */
  readonly assigns?: boolean
  /** It must be allowed itself: it changes who runs the inner command, or where. */
  readonly opaque?: boolean
  /** Options under which it starts nothing. */
  readonly queries?: string
  /** Options that change what the inner command is or sees. */
  readonly changes?: string
  /** The inner command gets further words that are not known. */
  readonly open?: boolean
}

const wrappers: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["nohup", {}],
  [
    "time",
    { flags: "pvaq", values: "f", longFlags: ["--portability", "--verbose", "--quiet"], longValues: ["--format"] }
  ],
  ["nice", { flags: "0123456789", values: "n", longValues: ["--adjustment"] }],
  ["ionice", { flags: "t", values: "cnpPu", longValues: ["--class", "--classdata"] }],
  [
    "timeout",
    {
      flags: "v",
      values: "ks",
      longFlags: ["--foreground", "--preserve-status", "--verbose"],
      longValues: ["--kill-after", "--signal"],
      positional: 1
    }
  ],
  ["setsid", { flags: "cfw", longFlags: ["--ctty", "--fork", "--wait"] }],
  ["stdbuf", { values: "ioe", longValues: ["--input", "--output", "--error"] }],
  ["command", { flags: "p", queries: "vV" }],
  ["builtin", {}],
  ["exec", { flags: "cl", values: "a", changes: "cla" }],
  [
    "env",
    {
      flags: "i0v",
      values: "uCS",
      longFlags: ["--ignore-environment", "--null"],
      longValues: ["--unset", "--chdir", "--split-string"],
      assigns: true,
      changes: "iuCS"
    }
  ],
  ["sudo", { flags: "AbEeHiKklnPSsVv", values: "CDghpRrTtUu", assigns: true, opaque: true, changes: "eis" }],
  ["doas", { flags: "Lns", values: "Cu", opaque: true, changes: "s" }],
  ["pkexec", { longValues: ["--user"], opaque: true }],
  ["chroot", { longValues: ["--userspec", "--groups"], positional: 1, opaque: true }],
  [
    "xargs",
    {
      flags: "0rtpxo",
      values: "IiPLlnsdaE",
      longFlags: ["--null", "--no-run-if-empty", "--verbose", "--exit"],
      longValues: ["--max-args", "--max-procs", "--max-lines", "--replace", "--delimiter", "--arg-file"],
      open: true
    }
  ],
  ["busybox", { opaque: true }],
  ["toybox", { opaque: true }]
])

/** Start what follows somewhere in their arguments, in ways that are not spelled out here. */
const carriers: ReadonlySet<string> = new Set(
  (
    "npx bunx pnpx uvx parallel flock script strace ltrace perf gdb lldb valgrind unshare nsenter systemd-run at batch taskset chrt " +
    "numactl proot fakeroot unbuffer dbus-run-session xvfb-run firejail bwrap runcon setpriv setarch linux32 linux64 capsh prlimit " +
    "cgexec torsocks proxychains tsocks dotenv cross-env concurrently nodemon entr rlwrap tmux screen ssh mosh su runuser fd fdfind " +
    "start-stop-daemon daemonize chpst softlimit eatmydata faketime watchexec hyperfine"
  ).split(" ")
)

/** Start something only under these sub-commands. */
const starters: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    npm: "exec x",
    pnpm: "exec dlx",
    yarn: "exec dlx",
    bun: "x exec",
    docker: "run exec",
    podman: "run exec",
    nerdctl: "run exec",
    kubectl: "exec run",
    uv: "run tool",
    pipx: "run",
    poetry: "run",
    pdm: "run",
    hatch: "run",
    bundle: "exec",
    direnv: "exec"
  }).map(([name, words]) => [name, new Set(words.split(" "))])
)

/** Also start an installed program by its bare name, where that is no sub-command of theirs. */
const packageManagers: ReadonlySet<string> = new Set(["pnpm", "yarn", "bun"])
const packageCommands: ReadonlySet<string> = new Set(
  (
    "access add audit build bin cache ci config create dedupe deploy dist-tag doctor env fetch get help i import info init install " +
    "link list ls login logout ln list outdated owner pack patch ping pkg pm prune publish rb rebuild remove rm root run search set " +
    "start store t test un uninstall unlink unplug up update upgrade version versions view why whoami workspace workspaces"
  ).split(" ")
)

const startsSomething = (name: string, words: ReadonlyArray<ShellWord>): boolean => {
  if (carriers.has(name)) return true
  const under = starters.get(name)
  if (under === undefined) return false
  const command = words.slice(1).find(({ text }) => !text.startsWith("-"))?.text
  if (packageManagers.has(name) && command !== undefined && !packageCommands.has(command)) return true
  return words.some(({ text, spreads }) => under.has(text) || spreads || text.includes(hole))
}

export interface Unwrapped {
  /** The inner commands, each as its words. */
  readonly inner: ReadonlyArray<ReadonlyArray<ShellWord>>
  readonly opaque: boolean
  /** Variables that it sets for the inner command. */
  readonly assigns: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
  /** Every place where an inner command might begin, where the arguments were not understood. */
  readonly guesses: ReadonlyArray<ReadonlyArray<ShellWord>>
}

const nothing: ReadonlyArray<never> = []
const plain = { opaque: true, assigns: nothing, problems: nothing, guesses: nothing, inner: nothing }

/** `undefined` for a command that starts no other. */
export const unwrap = (words: ReadonlyArray<ShellWord>): Unwrapped | undefined => {
  const name = baseName(words[0]?.text ?? "")
  if (name === "find") return unwrapFind(words)
  if (startsSomething(name, words)) return { ...plain, guesses: suffixes(words) }
  const wrapper = wrappers.get(name)
  return wrapper === undefined ? undefined : unwrapBy(wrapper, { name, words })
}

const mostGuesses = 64
const longestGuess = 32

/** Every place where an inner command might begin, each cut to its first words: what follows is left open. */
const suffixes = (words: ReadonlyArray<ShellWord>): ReadonlyArray<ReadonlyArray<ShellWord>> =>
  words.slice(1, mostGuesses + 1).flatMap((first, index) => {
    const from = index + 1
    const rest = words.slice(from, from + longestGuess)
    const guess = words.length > from + longestGuess ? [...rest, unknownWords] : rest
    // An argument that is a whole script (`su -c "rm x"`) begins a command too.
    if (!/\s/.test(first.text)) return [guess]
    const script = first.text
      .split(/[\s;|&()]+/)
      .filter((word) => word !== "")
      .slice(0, longestGuess)
    return [guess, [...script.map(literalWord), unknownWords]]
  })

const unwrapBy = (
  wrapper: Wrapper,
  { name, words }: { readonly name: string; readonly words: ReadonlyArray<ShellWord> }
): Unwrapped => {
  const problems: Array<string> = []
  const notUnderstood = (word: ShellWord): Unwrapped => ({
    ...plain,
    problems: [...problems, `the option ${word.text} of ${name} is not understood`],
    guesses: suffixes(words)
  })
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    if (word === undefined || !isKnown(word)) return notUnderstood(word ?? unknownWords)
    if (word.text === "--") {
      at++
      break
    }
    if (!word.text.startsWith("-") || word.text === "-") break
    const option = readOption(wrapper, word.text)
    if (option === undefined) return notUnderstood(word)
    if (option.query) return { ...plain }
    if (option.changes) problems.push(`${name} ${word.text} changes what it starts`)
    if (option.takesNext) at++
  }
  const assigns: Array<string> = []
  if (wrapper.assigns === true)
    for (let found; (found = /^([A-Za-z_]\w*)=/.exec(words[at]?.text ?? "")) !== null; at++)
      assigns.push(found[1] ?? "")
  at += wrapper.positional ?? 0
  const rest = words.slice(at)
  const inner = rest.length === 0 ? [] : [wrapper.open === true ? [...openArguments(words, rest), unknownWords] : rest]
  // With nothing to start it is an ordinary command.
  return { inner, opaque: wrapper.opaque === true || rest.length === 0, assigns, problems, guesses: nothing }
}

// `xargs -I{} cmd a{}b` puts its input in place of the mark.
const openArguments = (words: ReadonlyArray<ShellWord>, rest: ReadonlyArray<ShellWord>): ReadonlyArray<ShellWord> => {
  const options = words.slice(0, words.length - rest.length).map(({ text }) => text)
  const at = options.findIndex((text) => /^-[0rtpxo]*[Ii]/.test(text) || text.startsWith("--replace"))
  if (at < 0) return rest
  const mark = (options[at] ?? "").replace(/^(?:-[0rtpxo]*[Ii]|--replace=?)/, "") || (options[at + 1] ?? "{}") || "{}"
  return rest.map((word) => (word.text.includes(mark) || word.text.includes("{}") ? unknownWords : word))
}

const readOption = (wrapper: Wrapper, text: string) => {
  const changes = (letter: string) => wrapper.changes?.includes(letter) === true
  if (text.startsWith("--")) {
    const [long = "", value] = text.split("=", 2)
    const letter = long[2] ?? ""
    if (wrapper.longFlags?.includes(long) === true) return { takesNext: false, query: false, changes: changes(letter) }
    if (wrapper.longValues?.includes(long) === true)
      return { takesNext: value === undefined, query: false, changes: wrapper.changes !== undefined }
    return undefined
  }
  let changed = false
  for (let index = 1; index < text.length; index++) {
    const letter = text[index] ?? ""
    if (wrapper.queries?.includes(letter) === true) return { takesNext: false, query: true, changes: false }
    changed ||= changes(letter)
    if (wrapper.values?.includes(letter) === true)
      return { takesNext: index === text.length - 1, query: false, changes: changed }
    if (wrapper.flags?.includes(letter) !== true) return undefined
  }
  return { takesNext: false, query: false, changes: changed }
}

// find -exec cmd {} ; and its kin: the command ends at `;` or `+`, and `{}` is a file that is not known.
const unwrapFind = (words: ReadonlyArray<ShellWord>): Unwrapped => {
  const inner: Array<ReadonlyArray<ShellWord>> = []
  const problems: Array<string> = []
  if (words.some(({ text, spreads }) => spreads && text.startsWith("-")))
    problems.push("an option of find is not known before it runs")
  if (words.some(({ text }) => text === "-execdir" || text === "-okdir"))
    problems.push("find runs it in other directories")
  for (let at = 1; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at]?.text ?? "")) continue
    const rest = words.slice(at + 1)
    const end = rest.findIndex(({ text }) => text === ";" || text === "+")
    const command = rest.slice(0, end < 0 ? rest.length : end)
    inner.push(command.map((word) => (word.text.includes("{}") ? { ...unknownWords, spreads: false } : word)))
    at += command.length
  }
  return { ...plain, inner, problems }
}
