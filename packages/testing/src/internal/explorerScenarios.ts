/**
 * What the explorer walks: every scenario of one call, of two and of three, as far as they differ.
 *
 * The three modes that may replay are one and the same to the kernel, which `modesAgree` checks input by input. So all four modes are
 * walked alone, and two of them stand for all where calls are combined. Calls that never conflict are walked once for
 * all orders; calls that conflict in every order.
 */
import { ToolBatch, ToolConcurrency, ToolOutput, type ToolRecovery } from "@toolwright/runtime-contract"
import type { CallKind, Kernel, Scenario, ScenarioCall } from "./explorerState.js"

const modes: ReadonlyArray<ToolRecovery.ToolRecoveryMode> = [
  "NeverReplay",
  "ReplaySafe",
  "Idempotent",
  "DurableRequest"
]
const both: ReadonlyArray<ToolRecovery.ToolRecoveryMode> = ["NeverReplay", "ReplaySafe"]

const callsOf = (
  kinds: ReadonlyArray<CallKind>,
  of: ReadonlyArray<ToolRecovery.ToolRecoveryMode>
): ReadonlyArray<ScenarioCall> => kinds.flatMap((kind) => of.map((mode) => ({ kind, mode })))

const alone = (): ReadonlyArray<Scenario> => {
  const kinds: ReadonlyArray<CallKind> = ["allow", "ask", "client", "askClient", "input", "delegate", "set", "block"]
  return callsOf(kinds, modes).flatMap((call): ReadonlyArray<Scenario> => {
    const asks = call.kind === "ask" || call.kind === "askClient"
    const scenario: Scenario = { calls: [call], facts: true, settles: true }
    return asks ? [scenario, { ...scenario, edits: true }, { ...scenario, quorum: 2, edits: true }] : [scenario]
  })
}

const pairs = (): ReadonlyArray<Scenario> => {
  const kinds = callsOf(["allow", "ask", "client"], both)
  const parallel = multisets(kinds, 2).map((calls): Scenario => ({ calls, facts: true, edits: true }))
  const conflicting = kinds.flatMap((first) =>
    kinds.flatMap((second): ReadonlyArray<Scenario> => [
      { calls: [serial(first), serial(second)], facts: true, edits: true },
      {
        calls: [
          { ...first, claim: "write" },
          { ...second, claim: "read" }
        ],
        settles: true
      }
    ])
  )
  const narrow = multisets(callsOf(["allow", "ask"], both), 2).map((calls): Scenario => ({ calls, width: 1 }))
  return [...parallel, ...conflicting, ...narrow]
}

const triples = (): ReadonlyArray<Scenario> => {
  const kinds = callsOf(["allow", "ask"], both)
  const parallel = multisets(kinds, 3).map((calls): Scenario => ({ calls }))
  const ordered = kinds.flatMap((first) => kinds.flatMap((second) => kinds.map((third) => [first, second, third])))
  const serialized = ordered.map((calls): Scenario => ({ calls: calls.map(serial) }))
  // Two readers around a writer: what the writer's own kind does to them.
  const readers = callsOf(["allow"], both)
  const mixed = readers.flatMap((first) =>
    kinds.flatMap((second) =>
      readers.map((third): Scenario => ({
        calls: [
          { ...first, claim: "read" },
          { ...second, claim: "write" },
          { ...third, claim: "read" }
        ]
      }))
    )
  )
  return [...serialized, ...mixed, ...parallel]
}

const serial = (call: ScenarioCall): ScenarioCall => ({ ...call, claim: "serial" })

/** All choices of `count` items where the order does not matter and an item may come again. */
const multisets = <A>(items: ReadonlyArray<A>, count: number): ReadonlyArray<ReadonlyArray<A>> =>
  count === 0
    ? [[]]
    : items.flatMap((item, index) => multisets(items.slice(index), count - 1).map((rest) => [item, ...rest]))

/** Every scenario of up to `calls` calls. */
export const scenariosOf = (calls: number): ReadonlyArray<Scenario> => [
  ...(calls >= 1 ? alone() : []),
  ...(calls >= 2 ? pairs() : []),
  ...(calls >= 3 ? triples() : [])
]

/** The first input on which two modes that may replay are told apart; `undefined` where they are one. */
export const modesDisagree = (kernel: Kernel): string | undefined => {
  const flags = [true, false]
  const reconciled: ReadonlyArray<NonNullable<ToolBatch.RecoveryFacts["reconciled"]> | undefined> = [
    undefined,
    { _tag: "Happened", output: ToolOutput.ok("call", "done") },
    { _tag: "NotSent" },
    { _tag: "InProgress", retryAfter: 1 },
    { _tag: "Unknown" }
  ]
  const digest = ToolBatch.digestOf({})
  const events: ReadonlyArray<ToolBatch.CallEvent> = [
    { _tag: "Enter", digest },
    { _tag: "Complete", output: ToolOutput.ok("call", "done") },
    { _tag: "Refuse", reason: "Unavailable", output: ToolOutput.error("call", "no") },
    { _tag: "Lose", reason: "ProcessLost", output: ToolOutput.error("call", "maybe") }
  ]
  for (const attempts of [1, 2]) {
    const answers = modes.slice(1).map((mode) => {
      const call: ToolBatch.BatchCall = {
        operationId: "run/1/0",
        position: 0,
        callId: "call",
        toolId: "tool",
        arguments: {},
        digest,
        proposal: 0,
        recovery: { mode, maxAttempts: 2 },
        claim: ToolConcurrency.Parallel,
        attempts,
        entered: digest,
        phase: { _tag: "Executing", attempt: attempts }
      }
      const recovered = flags.flatMap((fits) =>
        flags.flatMap((denied) =>
          flags.flatMap((canReconcile) =>
            reconciled.map((answer) =>
              kernel.recover(call, {
                fits,
                denied,
                canReconcile,
                ...(answer === undefined ? {} : { reconciled: answer })
              })
            )
          )
        )
      )
      const moved = events.map((event) => {
        const result = kernel.transition(call, event)
        return result.ok ? { ...result.call, recovery: 0 } : result.illegal.rule
      })
      return JSON.stringify([recovered, moved])
    })
    if (answers.some((answer) => answer !== answers[0]))
      return `the modes that may replay differ at attempt ${attempts}`
  }
  return undefined
}
