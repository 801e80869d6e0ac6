/**
 * Running tests and commands, and mending what a failing test points at: what the offline model does with such requests.
 *
 * Guarantees: every change is proposed with the reason that the test gave, and the tests decide whether it was right; a
 * change that did not help is taken back; a refusal ends the attempt.
 * Does not understand code: it follows the failing test to the lines it runs, and tries small changes there.
 */
import type { Exchange } from "./exchanges.js"
import type { FolderIntent } from "./folderRequest.js"
import { type Mending, mendingsOf } from "./mendings.js"
import { functionAt, importsOf, type SourceFile, suspectsIn } from "./suspects.js"
import { readTestReport, type TestFailure, type TestReport } from "./testReport.js"
import { ask, askAll, fieldOf, headOf, isPlanMode, linesRead, unmade, whyNot, type Work } from "./work.js"

const mostLines = 40

/** Every attempt takes two steps, and a run has sixteen. */
const mostAttempts = 4

export function* runCommand({ command }: Extract<FolderIntent, { readonly type: "run" }>): Work {
  const ran = yield* ask("Let me run it.", { toolId: "bash", arguments: { command } })
  return ran.isError ? unmade(`run ${command}`, ran) : headOf(ran.text.split("\n"), mostLines)
}

interface Tested {
  readonly exchange: Exchange
  readonly command: string
  readonly report: TestReport | undefined
}

/** The command that package.json names, without npm where it does not need npm. */
function* runTests(): Work<Tested> {
  const read = yield* ask("Let me see how the tests are run.", {
    toolId: "read",
    arguments: { file_path: "package.json" }
  })
  const script = /"test": "((?:\\.|[^"\\])*)"/.exec(linesRead(read).join("\n"))?.[1]
  const command = script === undefined || /^node --test$/.test(script) ? "node --test" : "npm test"
  return yield* test(`I run ${command}.`, command)
}

function* test(text: string, command: string): Work<Tested> {
  const exchange = yield* ask(text, { toolId: "bash", arguments: { command } })
  return { exchange, command, report: exchange.isError ? undefined : readTestReport(exchange.text) }
}

export function* sayTests(): Work {
  const tested = yield* runTests()
  const { report } = tested
  if (report === undefined) return unread(tested)
  if (report.failed === 0) return `All ${report.passed} tests pass.`
  const failures = report.failures.map((each) => `- ${each.name}: ${difference(each)}`)
  return [
    `${report.failed} of ${report.passed + report.failed} tests ${report.failed === 1 ? "fails" : "fail"}:`,
    ...failures
  ].join("\n")
}

const unread = ({ exchange, command }: Tested): string => {
  if (exchange.isError) return unmade(`run ${command}`, exchange)
  const tail = exchange.text.split("\n").slice(-15)
  return `${command} ended with ${JSON.stringify(fieldOf(exchange, "exit_code") ?? null)}, and says nothing that I can read as tests:\n${tail.join("\n")}`
}

const difference = ({ expected, actual, error }: TestFailure): string =>
  expected === undefined || actual === undefined ? error : `expected ${expected}, got ${actual}`

export function* mendTest(): Work {
  const tested = yield* runTests()
  const { report } = tested
  if (report === undefined) return unread(tested)
  const [failure] = report.failures
  if (report.failed === 0) return `All ${report.passed} tests pass: there is nothing to fix.`
  if (failure?.file === undefined) return `${report.failed} tests fail, and the report does not say where.`
  const looked = yield* look(failure)
  if (typeof looked === "string") return looked
  return yield* tryMendings({ ...looked, failure, before: report, command: tested.command })
}

interface Looked {
  readonly test: SourceFile
  readonly sources: ReadonlyArray<SourceFile>
}

/** Reads the test that fails, then what it tests. */
function* look(failure: TestFailure): Work<Looked | string> {
  const { file = "", name } = failure
  const first = `“${name}” fails: ${difference(failure)}. Let me read the test.`
  const read = yield* ask(first, { toolId: "read", arguments: { file_path: file } })
  if (read.isError) return unmade(`read ${file}`, read)
  const test = sourceOf(read, file)
  const paths = importsOf(test)
  if (paths.length === 0) return `${test.path} imports no file of the folder, so I do not know what it tests.`
  const calls = paths.map((path) => ({ toolId: "read", arguments: { file_path: path } }))
  const files = yield* askAll("Now what it tests.", calls)
  const sources = files.flatMap((each, index) => (each.isError ? [] : [sourceOf(each, paths[index] ?? "")]))
  return sources.length === 0 ? unmade(`read ${paths.join(", ")}`, files[0] ?? read) : { test, sources }
}

const sourceOf = (read: Exchange, asked: string): SourceFile => {
  const path = fieldOf(read, "file_path")
  return { path: typeof path === "string" ? path : asked, lines: linesRead(read) }
}

interface Attempting extends Looked {
  readonly failure: TestFailure
  readonly before: TestReport
  readonly command: string
}

interface Attempt {
  readonly source: SourceFile
  readonly mending: Mending
}

function* tryMendings({ test: testFile, sources, failure, before, command }: Attempting): Work {
  const body = functionAt(testFile, failure.line ?? 1).join("\n")
  const attempts = sources
    .flatMap((source) =>
      mendingsOf(suspectsIn(source, { body, failure }), { failure, test: body }).map((mending): Attempt => ({
        source,
        mending
      }))
    )
    .toSorted((left, right) => right.mending.weight - left.mending.weight)
  if (attempts.length === 0)
    return `I read ${sources.map(({ path }) => path).join(" and ")} and see no small change that could help.`
  let last: Attempt | undefined
  for (const attempt of attempts.slice(0, mostAttempts)) {
    if (last !== undefined && last.source.path !== attempt.source.path) {
      const undone = yield* ask("That did not help; I take it back.", editOf(undefined, last))
      if (undone.isError) return `I may not take the last change of ${last.source.path} back: ${whyNot(undone)}.`
      last = undefined
    }
    const edited = yield* ask(reasonFor(attempt, last), editOf(attempt, last))
    if (edited.isError) return refusedEdit(edited, { attempt, last })
    last = attempt
    const { report } = yield* test("Let me run the tests again.", command)
    if (report !== undefined && helped(report, { failure, before })) return said(attempt, report)
  }
  if (last === undefined) return "I changed nothing."
  const undone = yield* ask("That did not help either; I take it back.", editOf(undefined, last))
  const left = undone.isError
    ? `; the last change is still in ${last.source.path}: ${whyNot(undone)}`
    : "; the file is as it was"
  return `I tried ${Math.min(attempts.length, mostAttempts)} small changes and none made “${failure.name}” pass${left}.`
}

/** The test passes now, and no other fails that passed before. */
const helped = (
  after: TestReport,
  { failure, before }: { readonly failure: TestFailure; readonly before: TestReport }
): boolean =>
  after.failed < before.failed &&
  !after.failures.some(({ name, file }) => name === failure.name && file === failure.file)

const reasonFor = ({ source, mending }: Attempt, last: Attempt | undefined): string =>
  `${last === undefined ? "" : "That did not help; I take it back. "}${source.path}, line ${mending.line}: I try whether it helps if ${mending.idea}.`

/** One edit that takes the last attempt back and makes the next. Whole lines, with as many before them as make them unique. */
const editOf = (next: Attempt | undefined, last: Attempt | undefined) => {
  const path = (next ?? last)?.source.path ?? ""
  const undo = last === undefined || last.source.path !== path ? [] : [edit(last, { isBack: true })]
  const edits = [...undo, ...(next === undefined ? [] : [edit(next, { isBack: false })])]
  return { toolId: "edit", arguments: { file_path: path, edits } }
}

const edit = ({ source, mending }: Attempt, { isBack }: { readonly isBack: boolean }) => {
  const at = mending.line - 1
  let first = at
  const piece = (from: number, line: string): string => [...source.lines.slice(from, at), line].join("\n")
  const whole = source.lines.join("\n")
  while (first > 0 && whole.split(piece(first, mending.before)).length > 2) first--
  const old = piece(first, mending.before)
  const fresh = piece(first, mending.after)
  return isBack ? { old_string: fresh, new_string: old } : { old_string: old, new_string: fresh }
}

const refusedEdit = (
  edited: Exchange,
  { attempt, last }: { readonly attempt: Attempt; readonly last: Attempt | undefined }
): string => {
  const { source, mending } = attempt
  const what = `change line ${mending.line} of ${source.path} from\n  ${mending.before.trim()}\nto\n  ${mending.after.trim()}\n`
  const rest = last === undefined ? "" : ` The change before it is still there: ${last.mending.after.trim()}`
  if (isPlanMode(edited))
    return `In plan mode I only look. I would ${what}and run the tests again; “/plan off” lets me.${rest}`
  return `I would ${what}but I may not: ${whyNot(edited)}.${rest}`
}

const said = ({ source, mending }: Attempt, { passed, failed }: TestReport): string =>
  [
    `Fixed: in ${source.path}, line ${mending.line}, ${mending.idea}.`,
    `  ${mending.after.trim()}`,
    failed === 0 ? `All ${passed} tests pass.` : `${failed} other tests still ${failed === 1 ? "fails" : "fail"}.`
  ].join("\n")
