/**
 * The side of the crash harness that lives in child processes: dies at a point, or recovers what others left.
 *
 * Guarantees: death is `SIGKILL`, sent to oneself at the named point, so nothing of this process runs behind it; one
 * process may recover many worlds, one behind another, each over files that it has not seen before.
 * Does not judge: it prints what it found, one JSON line per answer.
 */
import { join } from "node:path"
import { createInterface } from "node:readline"
import { type CrashPoint, RuntimeClock } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { acknowledgedFile, aftermathsOf, listened, outsideOf } from "./crashFiles.js"
import { brokenLaws, type SeenEffect } from "./crashLaws.js"
import { type CrashScenario, type CrashWorld, type ThreadAftermath } from "./crashWorld.js"

/** Where to die: at the `occurrence`-th time (from 1) that `point` is met. */
export interface DeathAt {
  readonly point: string
  readonly occurrence: number
}

export interface ChildRequest {
  readonly scenario: string
  readonly folder: string
  readonly death?: DeathAt
  /** How many processes have died over this folder. Default 0. */
  readonly deaths?: number
}

/** What became of one call: what the model was told, and how often the outside world saw it. */
export interface CallReport {
  readonly operationId: string
  readonly toolId: string
  readonly mode: string
  readonly phase: string
  readonly reason?: string
  readonly attempts: number
  readonly entries: number
}

export interface WorldReport {
  readonly threads: number
  readonly effects: ReadonlyArray<SeenEffect>
  readonly calls: ReadonlyArray<CallReport>
  readonly dispositions: ReadonlyArray<string>
  readonly violations: ReadonlyArray<string>
}

/** Milliseconds between a death and the recovery: more than a lease, less than the wait for a person. */
const later = 3_600_000

const opened = async (
  scenario: CrashScenario,
  given: { readonly folder: string; readonly crashPoint: CrashPoint.CrashPoint; readonly deaths: number }
) => {
  const { crashPoint, deaths, folder } = given
  const outside = outsideOf(folder)
  const acknowledged = acknowledgedFile(folder)
  // Each process comes so much later than the one before it that the lease of that one is over.
  const shift = deaths * later
  const world: CrashWorld = {
    folder,
    crashPoint,
    isRecovery: deaths > 0,
    database: join(folder, "threads.db"),
    outside,
    clock: { now: () => Date.now() + shift, after: RuntimeClock.system.after }
  }
  const store = await scenario.openStore(world)
  const actor = await scenario.open({ ...world, store: listened(store.store, (commit) => acknowledged.append(commit)) })
  const close = async (): Promise<void> => {
    await actor.close?.()
    await store.close()
    outside.close()
    acknowledged.close()
  }
  return { actor, store: store.store, effects: outside, acknowledged, close }
}

/** Runs the scenario from its start, or from a death; gives the points that it met, where it does not die at one of them. */
const live = async (
  scenario: CrashScenario,
  { death, deaths = 0, folder }: ChildRequest
): Promise<ReadonlyArray<string>> => {
  const met: Array<string> = []
  let left = death?.occurrence ?? 0
  const crashPoint = (point: CrashPoint.CrashPointName): void => {
    met.push(point)
    if (point === death?.point && --left === 0) process.kill(process.pid, "SIGKILL")
  }
  const { actor, close } = await opened(scenario, { folder, crashPoint, deaths })
  // A scenario that waits for a clock alone is no reason to end: a runtime's timers keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  await (deaths === 0 ? actor.start() : actor.recover())
  await close()
  clearInterval(alive)
  return met
}

const recover = async (scenario: CrashScenario, { deaths = 1, folder }: ChildRequest): Promise<WorldReport> => {
  const world = await opened(scenario, { folder, crashPoint: () => {}, deaths })
  const look = (): Promise<ReadonlyArray<ThreadAftermath & Parameters<typeof brokenLaws>[0]>> =>
    Effect.runPromise(
      aftermathsOf({ store: world.store, effects: world.effects.seen(), acknowledged: world.acknowledged.read() })
    )
  try {
    await world.actor.recover()
    const threads = await look()
    await world.actor.recover()
    const again = await look()
    const violations = threads.flatMap((thread) => [
      ...brokenLaws(thread),
      ...(scenario.laws?.(thread) ?? []),
      ...unended(scenario, thread)
    ])
    if (JSON.stringify(again.map(standing)) !== JSON.stringify(threads.map(standing)))
      violations.push("a second recovery changed something")
    return {
      threads: threads.length,
      effects: world.effects.seen(),
      calls: threads.flatMap(callsOf),
      dispositions: threads.map(({ view }) => view?.disposition?._tag ?? "none"),
      violations
    }
  } finally {
    await world.close()
  }
}

const standing = ({ effects, view }: ThreadAftermath): unknown => [view?.revision, view?.disposition, effects.length]

const unended = ({ mayWait }: CrashScenario, { view }: ThreadAftermath): ReadonlyArray<string> => {
  const now = view?.disposition?._tag
  if (now === undefined || now === "Ended" || (now === "Awaiting" && mayWait === true)) return []
  return [`the run is left ${now}`]
}

const callsOf = ({ effects, facts }: ThreadAftermath): ReadonlyArray<CallReport> => {
  const last = new Map<string, CallReport>()
  for (const { fact } of facts) {
    if (fact.type !== "CallChanged") continue
    const { attempts, operationId, phase, recovery, toolId } = fact.call
    last.set(operationId, {
      operationId,
      toolId,
      mode: recovery.mode,
      phase: phase._tag,
      ...("reason" in phase ? { reason: phase.reason } : {}),
      attempts,
      entries: effects.filter((effect) => effect.operationId === operationId).length
    })
  }
  return [...last.values()]
}

/** What a child prints for one request. */
export type ChildAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string }

const answer = async (act: () => Promise<unknown>): Promise<ChildAnswer> => {
  try {
    return { ok: true, value: await act() }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

const print = (line: ChildAnswer): void => {
  process.stdout.write(`${marker}${JSON.stringify(line)}\n`)
}

/** Stands before each answer, so that whatever a scenario prints is not taken for one. */
export const marker = "@@crash "

const isRequest = (value: unknown): value is ChildRequest =>
  typeof value === "object" && value !== null && "scenario" in value && "folder" in value

/** True where the arguments of this process were those of a child, which has then done its work. */
export const serve = async (
  scenarios: ReadonlyArray<CrashScenario>,
  [role, given]: ReadonlyArray<string>
): Promise<boolean> => {
  const asked = async (text: string, act: (scenario: CrashScenario, request: ChildRequest) => Promise<unknown>) => {
    const request: unknown = JSON.parse(text)
    if (!isRequest(request)) throw new Error("the request cannot be read")
    const scenario = scenarios.find(({ name }) => name === request.scenario)
    if (scenario === undefined) throw new Error(`there is no scenario ${request.scenario}`)
    return act(scenario, request)
  }
  if (role === "crash-list") print({ ok: true, value: scenarios.map(({ name }) => name) })
  else if (role === "crash-live") print(await answer(() => asked(given ?? "", live)))
  else if (role === "crash-recover")
    for await (const line of createInterface({ input: process.stdin })) print(await answer(() => asked(line, recover)))
  else return false
  return true
}
