import { describe, expect, it } from "vitest"
import { type BatchCall, type RecoveryAction, type RecoveryFacts, recover, transition } from "../src/ToolBatch.js"
import type { ToolRecoveryMode } from "../src/ToolRecovery.js"
import { call, entered, output, phases } from "./kernelWorld.js"

const modes: ReadonlyArray<ToolRecoveryMode> = ["NeverReplay", "ReplaySafe", "Idempotent", "DurableRequest"]
const adopted = output(0, "it happened")
const answers: ReadonlyArray<NonNullable<RecoveryFacts["reconciled"]> | undefined> = [
  undefined,
  { _tag: "Happened", output: adopted },
  { _tag: "NotSent" },
  { _tag: "InProgress", retryAfter: 500 },
  { _tag: "Unknown" }
]
const either = [true, false]

const everyFacts: ReadonlyArray<RecoveryFacts> = either.flatMap((fits) =>
  either.flatMap((denied) =>
    either.flatMap((canReconcile) =>
      answers.map((reconciled) => ({
        fits,
        denied,
        canReconcile,
        ...(reconciled === undefined ? {} : { reconciled })
      }))
    )
  )
)

const found = (mode: ToolRecoveryMode): Readonly<Record<string, BatchCall>> => {
  const recovery = { mode, maxAttempts: 2 }
  const all: Record<string, BatchCall> = {
    Requested: call({ recovery }),
    Approved: call({ recovery, phase: phases.approved() }),
    "Awaiting Permission": call({ recovery, phase: phases.awaiting("Permission") }),
    "Awaiting Client": call({ recovery, phase: phases.awaiting("Client") }),
    "Executing 1": entered(call({ recovery, phase: phases.executing() })),
    Completed: call({ recovery, phase: phases.completed() }),
    NotRun: call({ recovery, phase: phases.notRun() }),
    Indeterminate: entered(call({ recovery, phase: phases.indeterminate() }))
  }
  return mode === "NeverReplay"
    ? all
    : { ...all, "Executing 2": entered(call({ recovery, phase: phases.executing(2) }), 2) }
}

/** The table of the contract, written down a second time and row by row. */
const expected = (name: string, { facts, mode }: { mode: ToolRecoveryMode; facts: RecoveryFacts }): RecoveryAction => {
  if (name === "Completed" || name === "NotRun" || name === "Indeterminate") return { _tag: "Keep" }
  if (name.startsWith("Awaiting")) return { _tag: "Await" }
  if (name === "Requested") return facts.fits ? { _tag: "Gate" } : { _tag: "NotRun", reason: "ToolChanged" }
  if (name === "Approved")
    return !facts.fits
      ? { _tag: "NotRun", reason: "ToolChanged" }
      : facts.denied
        ? { _tag: "NotRun", reason: "Denied" }
        : { _tag: "RunApproved" }
  if (!facts.fits) return { _tag: "Indeterminate", reason: "ToolChanged" }
  if (mode !== "NeverReplay" && facts.denied) return { _tag: "Indeterminate", reason: "DeniedNow" }
  if (facts.reconciled === undefined && facts.canReconcile) return { _tag: "Reconcile" }
  if (facts.reconciled?._tag === "Happened") return { _tag: "Adopt", output: adopted }
  if (facts.reconciled?._tag === "InProgress") return { _tag: "AskAgain", after: 500 }
  if (mode === "NeverReplay") return { _tag: "Indeterminate", reason: "ProcessLost" }
  return name === "Executing 1" ? { _tag: "Reenter" } : { _tag: "Indeterminate", reason: "AttemptsSpent" }
}

describe("recovery table", () => {
  it("[R8, R5, N2] every phase, mode and fact is answered as the table says", () => {
    let asked = 0
    for (const mode of modes)
      for (const [name, lost] of Object.entries(found(mode)))
        for (const facts of everyFacts) {
          asked++
          expect({ mode, name, facts, action: recover(lost, facts) }).toEqual({
            mode,
            name,
            facts,
            action: expected(name, { mode, facts })
          })
        }
    expect(asked).toBe((8 + 9 * 3) * 40)
  })

  it("[R8] the three modes that may replay are one and the same to the kernel", () => {
    for (const facts of everyFacts)
      for (const name of Object.keys(found("ReplaySafe"))) {
        const actions = modes.slice(1).map((mode) => recover(found(mode)[name]!, facts))
        expect(actions).toEqual([actions[0], actions[0], actions[0]])
      }
  })

  it("[R8] whatever recovery decides is a transition that the kernel has", () => {
    for (const mode of modes)
      for (const [name, lost] of Object.entries(found(mode)))
        for (const facts of everyFacts) {
          const action = recover(lost, facts)
          const moved =
            action._tag === "Reenter" || action._tag === "RunApproved"
              ? transition(lost, { _tag: "Enter", digest: lost.digest })
              : action._tag === "Adopt"
                ? transition(lost, { _tag: "Complete", output: action.output })
                : action._tag === "NotRun"
                  ? transition(lost, { _tag: "Refuse", reason: action.reason, output: output(0) })
                  : action._tag === "Indeterminate"
                    ? transition(lost, { _tag: "Lose", reason: action.reason, output: output(0) })
                    : { ok: true }
          expect({ mode, name, action, ok: moved.ok }).toEqual({ mode, name, action, ok: true })
        }
  })

  it("[R5] only a request that outlives the process may repeat because it was not sent; the others follow their mode", () => {
    const facts: RecoveryFacts = { fits: true, denied: false, canReconcile: true, reconciled: { _tag: "NotSent" } }
    expect(modes.map((mode) => recover(found(mode)["Executing 1"]!, facts)._tag)).toEqual([
      "Indeterminate",
      "Reenter",
      "Reenter",
      "Reenter"
    ])
  })
})
