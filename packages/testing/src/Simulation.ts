/**
 * Many runs over one store in bad weather: deaths, lost replies, slow commits, stale owners, answers that come twice. All of
 * it drawn from a seed, played on a clock that stands still, and judged by the same laws as the crash harness.
 *
 * Guarantees: the same seed is the same world to the last commit; a violation can be told as the fewest faults that still
 * show it. Does not know your runtime: it is given the way to make one.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { aftermathsOf } from "./internal/crashFiles.js"
import { type AcknowledgedCommit, brokenLaws, type SeenEffect } from "./internal/crashLaws.js"
import type { ThreadAftermath } from "./internal/crashWorld.js"
import { Draw } from "./internal/simulationDraw.js"
import { type Accepted, SimulationDriver } from "./internal/simulationDriver.js"
import type { OwnerWorld, SimulatedPorts, SimulatedRuntime } from "./internal/simulationOwner.js"
import { decisionOf, mayRepeat } from "./internal/simulationScript.js"
import { TestClock } from "./TestClock.js"

export type { SimulatedPorts, SimulatedRuntime } from "./internal/simulationOwner.js"

export interface SimulationOptions {
  /** A whole number. */
  readonly seed: number
  /** Makes the runtime of one process: `(ports) => Runtime.make(ports)`. */
  readonly makeOwner: (ports: SimulatedPorts) => SimulatedRuntime
  /** Puts something between all processes and the store. Default: nothing. */
  readonly store?: (inner: ThreadStore.ThreadStore) => ThreadStore.ThreadStore
  /** Plays these faults and no others. Default: all that the seed draws. */
  readonly only?: ReadonlyArray<string>
}

export interface SimulationReport {
  readonly seed: number
  /** Runs that were acknowledged. */
  readonly runs: number
  readonly commits: number
  readonly effects: number
  /** What went wrong in this world, in order, in words. */
  readonly faults: ReadonlyArray<string>
  readonly violations: ReadonlyArray<string>
}

/** Plays one world. */
export const simulate = async (options: SimulationOptions): Promise<SimulationReport> => {
  const draw = new Draw(options.seed, options.only === undefined ? undefined : new Set(options.only))
  const clock = new TestClock(1_000_000)
  const memory = new MemoryThreadStore({ now: clock.now })
  const store = options.store?.(memory) ?? memory
  const effects: Array<SeenEffect> = []
  const acknowledged: Array<AcknowledgedCommit> = []
  let activity = 0
  const stir = (): void => void activity++
  const world: OwnerWorld = { draw, clock, store, effects, acknowledged, makeOwner: options.makeOwner, stir }
  const driver = new SimulationDriver(world, () => activity)
  await driver.play()
  const threads = await Effect.runPromise(aftermathsOf({ store, effects, acknowledged }))
  const violations = [
    ...threads.flatMap((thread) =>
      [...brokenLaws(thread), ...brokenDecisions(draw, thread), ...unended(thread)].map(
        (what) => `${thread.threadId}: ${what}`
      )
    ),
    ...brokenTickets(driver.accepted),
    ...driver.faults.map((error) => `the engine failed: ${error.message}`)
  ]
  return {
    seed: options.seed,
    runs: threads.filter(({ view }) => view !== undefined).length,
    commits: acknowledged.length,
    effects: effects.length,
    faults: draw.happened,
    violations
  }
}

/**
 * Nothing runs that a gate denies, nothing that it asks about without an approval, and nothing twice that cannot bear it,
 * whatever the thread says of it.
 */
function* brokenDecisions(draw: Draw, { effects, facts }: ThreadAftermath): Generator<string> {
  const approved = new Set<string>()
  const entered = new Set<string>()
  for (const { fact } of facts)
    if (fact.type === "CallChanged" && fact.call.phase._tag === "Approved") approved.add(fact.call.operationId)
  for (const effect of effects) {
    const decision = decisionOf(draw, effect)
    if (decision === "deny") yield `${effect.operationId} ran though it is denied`
    if (entered.has(effect.operationId) && !mayRepeat(effect.toolId))
      yield `${effect.operationId} ran again, and must not`
    entered.add(effect.operationId)
    if (decision === "ask" && !approved.has(effect.operationId)) yield `${effect.operationId} ran without an approval`
  }
}

function* unended({ view }: ThreadAftermath): Generator<string> {
  if (view !== undefined && view.disposition?._tag !== "Ended")
    yield `the run is left ${view.disposition?._tag ?? "nowhere"}`
}

function* brokenTickets(accepted: Accepted): Generator<string> {
  for (const [ticketId, answers] of accepted)
    if (answers.size > 1) yield `ticket ${ticketId} accepted ${[...answers].join(" and ")}`
}

/** Takes faults away for as long as some violation stays. Gives the smallest script that was found. */
export const shrink = async (
  failing: SimulationOptions & { readonly faults: ReadonlyArray<string> }
): Promise<SimulationReport> => {
  let best = await simulate({ ...failing, only: failing.faults })
  for (
    let size = Math.ceil(best.faults.length / 2);
    size >= 1 && best.violations.length > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  )
    for (let at = 0; at < best.faults.length;) {
      const only = best.faults.filter((_, index) => index < at || index >= at + size)
      const tried = await simulate({ ...failing, only })
      if (tried.violations.length > 0) best = tried
      else at += size
    }
  return best
}
