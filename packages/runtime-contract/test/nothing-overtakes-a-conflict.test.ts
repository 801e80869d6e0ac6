import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type BatchCall, isPublishable, isTerminal, plan, type ToolBatch, withCalls } from "../src/ToolBatch.js"
import {
  conflicts,
  equals,
  narrow,
  Parallel,
  type ResourceClaim,
  Resources,
  Serial,
  type ToolConcurrency
} from "../src/ToolConcurrency.js"
import { call, entered, phases } from "./kernelWorld.js"

const claim: fc.Arbitrary<ResourceClaim> = fc.record({
  access: fc.constantFrom("Read" as const, "Write" as const),
  namespace: fc.constantFrom("file", "file,"),
  key: fc.constantFrom("a", "b", "c")
})

const concurrency: fc.Arbitrary<ToolConcurrency> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(Serial) },
  { weight: 2, arbitrary: fc.constant(Parallel) },
  { weight: 5, arbitrary: fc.array(claim, { maxLength: 3 }).map(Resources) }
)

const someCall: fc.Arbitrary<Omit<BatchCall, "position" | "operationId">> = fc
  .record({
    claim: concurrency,
    phase: fc.constantFrom(
      call().phase,
      call().phase,
      phases.approved(),
      phases.awaiting("Permission"),
      phases.awaiting("Client"),
      phases.executing(),
      phases.completed(),
      phases.notRun(),
      phases.indeterminate()
    )
  })
  .map((parts) => (parts.phase._tag === "Executing" ? entered(call(parts)) : call(parts)))

const batch: fc.Arbitrary<ToolBatch> = fc.array(someCall, { maxLength: 10 }).map((calls) => ({
  runId: "run",
  step: 1,
  calls: calls.map((one, position) => ({ ...one, position, operationId: `run/1/${position}` }))
}))

const options = fc.record({
  width: fc.integer({ min: 1, max: 6 }),
  unready: fc.uniqueArray(fc.nat(9)),
  held: fc.array(concurrency, { maxLength: 2 })
})

/** The definition, pair by pair: no sets, no passes. */
const naive = (
  { calls }: ToolBatch,
  { held, unready, width }: { width: number; unready: ReadonlyArray<number>; held: ReadonlyArray<ToolConcurrency> }
): { start: Array<number>; refuse: Array<number>; held: Array<number> } => {
  const result = { start: [] as Array<number>, refuse: [] as Array<number>, held: [] as Array<number> }
  const isDoomed = (one: BatchCall): boolean =>
    calls.some(
      (other) =>
        other.position < one.position && other.phase._tag === "Indeterminate" && conflicts(other.claim, one.claim)
    )
  const waitsForPeople = ({ phase }: BatchCall): boolean => phase._tag === "Awaiting" && phase.wait === "Permission"
  const mayStart = (one: BatchCall): boolean =>
    (one.phase._tag === "Requested" || one.phase._tag === "Approved") && !unready.includes(one.position)
  let free = width - calls.filter(({ phase }) => phase._tag === "Executing").length
  for (const one of calls) {
    if (isTerminal(one)) continue
    if (mayStart(one) || waitsForPeople(one)) {
      if (isDoomed(one)) {
        result.refuse.push(one.position)
        continue
      }
    }
    if (!mayStart(one)) continue
    const isBlocked = calls.some(
      (other) =>
        other.position < one.position &&
        !isTerminal(other) &&
        !result.refuse.includes(other.position) &&
        conflicts(other.claim, one.claim)
    )
    if (isBlocked) continue
    if (held.some((other) => conflicts(other, one.claim))) result.held.push(one.position)
    else if (free-- > 0) result.start.push(one.position)
  }
  return result
}

const planned = (
  given: ToolBatch,
  { held, unready, width }: { width: number; unready: ReadonlyArray<number>; held: ReadonlyArray<ToolConcurrency> }
): { start: Array<number>; refuse: Array<number>; held: Array<number> } => {
  const result = plan(given, { width, held, ready: (one) => !unready.includes(one.position) })
  const positions = (calls: ReadonlyArray<BatchCall>): Array<number> => calls.map((one) => one.position)
  return { start: positions(result.start), refuse: positions(result.refuse), held: positions(result.held) }
}

describe("nothing overtakes a conflict", () => {
  it("[C2] the plan in one pass is the definition pair by pair", () => {
    fc.assert(
      fc.property(batch, options, (given, how) => {
        expect(planned(given, how)).toEqual(naive(given, how))
      }),
      { numRuns: 3_000 }
    )
  })

  it("[C2] no call starts before a conflicting predecessor is terminal, and never more than the width run", () => {
    fc.assert(
      fc.property(batch, options, (given, how) => {
        const { refuse, start } = planned(given, how)
        const running = given.calls.filter(({ phase }) => phase._tag === "Executing").length
        expect(start.length === 0 || running + start.length <= how.width).toBe(true)
        const overtaken = start.flatMap((position) =>
          given.calls
            .slice(0, position)
            .filter(
              (other) =>
                !isTerminal(other) &&
                !refuse.includes(other.position) &&
                conflicts(other.claim, given.calls[position]!.claim)
            )
        )
        expect(overtaken).toEqual([])
      }),
      { numRuns: 2_000 }
    )
  })

  it("[C2] calls that start together do not conflict", () => {
    fc.assert(
      fc.property(batch, options, (given, how) => {
        const { start } = planned(given, how)
        const running = given.calls.filter((one) => one.phase._tag === "Executing").map((one) => one.position)
        const clashes = [...running, ...start].flatMap((left) =>
          start.filter((right) => left < right && conflicts(given.calls[left]!.claim, given.calls[right]!.claim))
        )
        expect(clashes).toEqual([])
      })
    )
  })

  it("[R12] a call behind a conflicting outcome that nobody knows is refused, also while it waits for a person", () => {
    const lost = entered(call({ phase: phases.indeterminate(), claim: Serial }))
    const waiting = call({ position: 1, phase: phases.awaiting("Permission") })
    const handedOut = call({ position: 2, phase: phases.awaiting("Client") })
    const requested = call({ position: 3 })
    const result = planned(
      { runId: "run", step: 1, calls: [lost, waiting, handedOut, requested] },
      {
        width: 4,
        unready: [],
        held: []
      }
    )
    expect(result).toEqual({ start: [], refuse: [1, 3], held: [] })
  })

  it("[C1, L3] an abandoned call keeps its claim", () => {
    const write = Resources([{ access: "Write", namespace: "file", key: "a" }])
    const given: ToolBatch = { runId: "run", step: 1, calls: [call({ claim: write }), call({ position: 1 })] }
    expect(planned(given, { width: 4, unready: [], held: [write] })).toEqual({ start: [1], refuse: [], held: [0] })
  })

  it("[C2] a batch of a thousand calls over a thousand resources is planned in one pass", () => {
    const calls = Array.from({ length: 1_000 }, (_, position) =>
      call({ position, claim: Resources([{ access: "Write", namespace: "file", key: String(position) }]) })
    )
    expect(planned({ runId: "run", step: 1, calls }, { width: 1_000, unready: [], held: [] }).start).toHaveLength(1_000)
  })

  it("[R7] results are published only when every call has one", () => {
    const done = call({ phase: phases.notRun() })
    const open = call({ position: 1 })
    expect(isPublishable({ runId: "run", step: 1, calls: [done, open] })).toBe(false)
    expect(isPublishable({ runId: "run", step: 1, calls: [done] })).toBe(true)
  })

  it("[R7] changed calls take their own places and nobody else's", () => {
    const before: ToolBatch = { runId: "run", step: 1, calls: [call(), call({ position: 1 })] }
    const changed = call({ position: 1, phase: phases.notRun(1) })
    const foreign = call({ position: 0, operationId: "run/9/0", phase: phases.notRun() })
    expect(withCalls(before, [foreign, changed])).toEqual({ runId: "run", step: 1, calls: [call(), changed] })
    expect(withCalls(before, [])).toBe(before)
  })
})

describe("laws of concurrency", () => {
  it("[C1] conflict is symmetric", () => {
    fc.assert(
      fc.property(concurrency, concurrency, (a, b) => {
        expect(conflicts(a, b)).toBe(conflicts(b, a))
      }),
      { numRuns: 1_000 }
    )
  })

  it("[C1] Serial conflicts with all, Parallel with nothing but Serial", () => {
    fc.assert(
      fc.property(concurrency, (a) => {
        expect(conflicts(Serial, a)).toBe(true)
        expect(conflicts(Parallel, a)).toBe(a._tag === "Serial")
      }),
      { numRuns: 1_000 }
    )
  })

  it("[C1] two resource calls conflict exactly when they share a key and one writes it", () => {
    const pairwise = (left: ReadonlyArray<ResourceClaim>, right: ReadonlyArray<ResourceClaim>): boolean =>
      left.some((a) =>
        right.some(
          (b) => a.namespace === b.namespace && a.key === b.key && (a.access === "Write" || b.access === "Write")
        )
      )
    fc.assert(
      fc.property(fc.array(claim, { maxLength: 4 }), fc.array(claim, { maxLength: 4 }), (left, right) => {
        expect(conflicts(Resources(left), Resources(right))).toBe(pairwise(left, right))
      }),
      { numRuns: 1_000 }
    )
  })

  it("[C1] combination only narrows: what conflicted with either part conflicts with both together", () => {
    fc.assert(
      fc.property(concurrency, concurrency, concurrency, (a, b, other) => {
        const either = conflicts(a, other) || conflicts(b, other)
        expect(conflicts(narrow(a, b), other)).toBe(either)
      }),
      { numRuns: 1_000 }
    )
  })

  it("[C1] combination is associative and idempotent, and its order does not matter", () => {
    const same = (left: ToolConcurrency, right: ToolConcurrency): boolean => equals(sorted(left), sorted(right))
    fc.assert(
      fc.property(concurrency, concurrency, concurrency, (a, b, c) => {
        expect(same(narrow(narrow(a, b), c), narrow(a, narrow(b, c)))).toBe(true)
        expect(same(narrow(a, b), narrow(b, a))).toBe(true)
        expect(same(narrow(narrow(a, b), b), narrow(a, b))).toBe(true)
      }),
      { numRuns: 1_000 }
    )
  })

  it("[C1] a claim equals itself, and another only when it is written the same way", () => {
    fc.assert(
      fc.property(concurrency, concurrency, (a, b) => {
        expect(equals(a, structuredClone(a))).toBe(true)
        expect(equals(a, b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: 1_000 }
    )
  })
})

/** The same claims in one order, each key once. */
const sorted = (given: ToolConcurrency): ToolConcurrency => {
  const united = narrow(given, given)
  return united._tag === "Resources"
    ? Resources([...united.claims].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)))
    : united
}
