/**
 * Kills a real process at every point of a scenario, recovers in another one, and tells what the outside world saw.
 *
 * Guarantees: real `SIGKILL` over a real store; every named point is met at each of its occurrences; entries into tools
 * are recorded in a file of their own, on disk before the tool does anything; the laws of recovery are checked each time.
 * Does not know your runtime or your store: the scenario opens both, as your application does.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ChildAnswer, type ChildRequest, type DeathAt, serve, type WorldReport } from "./internal/crashChild.js"
import { type ProgramOptions, Recoverer, runChild } from "./internal/crashParent.js"
import type { CrashScenario } from "./internal/crashWorld.js"

export { outsideOf } from "./internal/crashFiles.js"
export type { SeenEffect } from "./internal/crashLaws.js"
export type { CallReport, DeathAt, WorldReport } from "./internal/crashChild.js"
export type {
  CrashActor,
  CrashScenario,
  CrashWorld,
  ClosableStore,
  OutsideWorld,
  ThreadAftermath
} from "./internal/crashWorld.js"

/**
 * The main of a program with scenarios, for its child processes. False where this process is none of them:
 *
 * ```ts
 * if (!(await crashProgram(scenarios))) report(await killAtEveryPoint({ program: fileURLToPath(import.meta.url) }))
 * ```
 */
export const crashProgram = (
  scenarios: ReadonlyArray<CrashScenario>,
  args: ReadonlyArray<string> = process.argv.slice(2)
): Promise<boolean> => serve(scenarios, args)

export interface KillOptions extends ProgramOptions {
  /** Names of scenarios of the program. Default: all. */
  readonly scenarios?: ReadonlyArray<string>
  /** Which deaths. Default: all that a run without one can meet. */
  readonly deaths?: (death: DeathAt, scenario: string) => boolean
  /** Behind which deaths the recovering process dies as well, at every point that it meets. Default: none. */
  readonly twice?: (death: DeathAt, scenario: string) => boolean
  /** Processes side by side. Default 2. */
  readonly jobs?: number
  /** Told behind each death. */
  readonly progress?: (report: DeathReport) => void
}

/** What was found behind one death. */
export interface DeathReport extends WorldReport {
  readonly scenario: string
  /** Absent: nobody died. */
  readonly death?: DeathAt
  /** The death before: `death` is then that of the process that recovered from it. */
  readonly behind?: DeathAt
}

export interface CrashReport {
  /** One for each death, and one for each scenario without. */
  readonly reports: ReadonlyArray<DeathReport>
  readonly scenarios: number
  readonly deaths: number
  /** Each with its scenario and its death in front. */
  readonly violations: ReadonlyArray<string>
}

interface Task {
  readonly scenario: string
  readonly death?: DeathAt
  readonly behind?: DeathAt
}

/** Lets every scenario run once without a death to learn its points, then once for each. */
export const killAtEveryPoint = async (options: KillOptions): Promise<CrashReport> => {
  const names = options.scenarios ?? (await namesOf(options))
  const folder = mkdtempSync(join(tmpdir(), "crash-"))
  const recoverers = Array.from({ length: Math.max(1, options.jobs ?? 2) }, () => new Recoverer(options))
  const reports: Array<DeathReport> = []
  let made = 0
  const performAll = async (tasks: ReadonlyArray<Task>): Promise<ReadonlyArray<Task>> => {
    const left = [...tasks]
    const learned: Array<Task> = []
    const lane = async (recoverer: Recoverer): Promise<void> => {
      for (let task = left.shift(); task !== undefined; task = left.shift()) {
        const world = join(folder, String(++made))
        mkdirSync(world)
        const { deaths, report } = await perform(options, { task, world, recoverer })
        learned.push(...deaths)
        reports.push(report)
        options.progress?.(report)
        rmSync(world, { recursive: true, force: true })
      }
    }
    await Promise.all(recoverers.map(lane))
    return learned
  }
  try {
    const tasks = await performAll(names.map((scenario) => ({ scenario })))
    await performAll(tasks)
    const twice = tasks.flatMap(({ death, scenario }) =>
      death !== undefined && options.twice?.(death, scenario) === true ? [{ scenario, behind: death }] : []
    )
    await performAll(await performAll(twice))
  } finally {
    for (const recoverer of recoverers) recoverer.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    reports,
    scenarios: names.length,
    deaths: reports.flatMap(({ behind, death }) => [behind, death].filter((each) => each !== undefined)).length,
    violations: reports.flatMap((report) => report.violations.map((what) => `${titleOf(report)}: ${what}`))
  }
}

/** `scenario at point (occurrence)`. */
export const titleOf = ({ behind, death, scenario }: Pick<DeathReport, "behind" | "death" | "scenario">): string => {
  const placed = [behind, death].flatMap((each) => (each === undefined ? [] : [`${each.point} (${each.occurrence})`]))
  return placed.length === 0 ? `${scenario} without a death` : `${scenario} at ${placed.join(", then ")}`
}

const namesOf = async (options: ProgramOptions): Promise<ReadonlyArray<string>> => {
  const value = valueOf((await runChild(options, ["crash-list"])).answers[0])
  return Array.isArray(value) ? value.map(String) : []
}

const valueOf = (answer: ChildAnswer | undefined): unknown => {
  if (answer === undefined) throw new Error("the program gave no answer: does its main call crashProgram?")
  if (!answer.ok) throw new Error(answer.error)
  return answer.value
}

interface Performing {
  readonly task: Task
  readonly world: string
  readonly recoverer: Recoverer
}

const perform = async (
  options: KillOptions,
  { recoverer, task, world }: Performing
): Promise<{ readonly report: DeathReport; readonly deaths: ReadonlyArray<Task> }> => {
  const { behind, death, scenario } = task
  const troubles: Array<string> = []
  let deaths = 0
  if (behind !== undefined)
    troubles.push(...(await live(options, { scenario, folder: world, death: behind, deaths: deaths++ })).troubles)
  const lived = await live(options, { scenario, folder: world, deaths, ...(death === undefined ? {} : { death }) })
  troubles.push(...lived.troubles)
  const recovered = await recoverer.recover({ scenario, folder: world, deaths: deaths + 1 })
  const found = recovered.ok && isWorldReport(recovered.value) ? recovered.value : nothing
  if (!recovered.ok) troubles.push(recovered.error)
  return {
    report: { ...task, ...found, violations: [...troubles, ...found.violations] },
    deaths: deathsOf(lived.met)
      .filter((met) => behind !== undefined || (options.deaths?.(met, scenario) ?? true))
      .map((met) => ({ ...task, death: met }))
  }
}

/** One process, to its death or its end. */
const live = async (
  options: ProgramOptions,
  request: ChildRequest
): Promise<{ readonly met: ReadonlyArray<string>; readonly troubles: ReadonlyArray<string> }> => {
  const { answers, errors, isLate, wasKilled } = await runChild(options, ["crash-live", JSON.stringify(request)])
  const [answer] = answers
  if (isLate) return { met: [], troubles: ["the process neither died nor came to its end"] }
  if (request.death !== undefined)
    return { met: [], troubles: wasKilled ? [] : ["the point was not met a second time"] }
  if (answer?.ok === true && Array.isArray(answer.value)) return { met: answer.value.map(String), troubles: [] }
  const what = answer?.ok === false ? answer.error : errors
  return { met: [], troubles: [`the run without a death failed: ${what}`] }
}

const deathsOf = (met: ReadonlyArray<string>): ReadonlyArray<DeathAt> => {
  const counts = new Map<string, number>()
  return met.map((point) => {
    const occurrence = (counts.get(point) ?? 0) + 1
    counts.set(point, occurrence)
    return { point, occurrence }
  })
}

const nothing: WorldReport = { threads: 0, effects: [], calls: [], dispositions: [], violations: [] }

const isWorldReport = (value: unknown): value is WorldReport =>
  typeof value === "object" && value !== null && "calls" in value && "violations" in value
