import { isDeepStrictEqual } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  allow,
  block,
  type GateOutcome,
  isGateOutcome,
  narrow,
  type Requirement,
  requireConfirmation,
  schedule,
  setResult,
  stricter
} from "../src/GateOutcome.js"
import { isComplete } from "../src/ResumeTicket.js"
import * as ToolOutput from "../src/ToolOutput.js"
import { call, phases, ticketFor } from "./kernelWorld.js"

const people = ["ada", "bob", "cleo"]

const requirement: fc.Arbitrary<Requirement> = fc.record(
  {
    reason: fc.constantFrom("moves money", "deletes rows"),
    gate: fc.constantFrom("host", "plugin"),
    approvers: fc.uniqueArray(fc.constantFrom(...people), { minLength: 1 }),
    quorum: fc.constant(1),
    deadline: fc.nat(5)
  },
  { requiredKeys: ["reason"] }
)

const outcome: fc.Arbitrary<GateOutcome> = fc.oneof(
  fc.constant(allow),
  fc.constantFrom("a", "b").map((text) => setResult(ToolOutput.ok("call", text))),
  fc.nat(3).map((at) => schedule(at)),
  fc.array(requirement, { minLength: 1, maxLength: 3 }).map(([first, ...rest]) => requireConfirmation(first!, ...rest)),
  fc.constantFrom("no", "never").map((reason) => block(reason))
)

const order = ["Allow", "SetResult", "Schedule", "RequireConfirmation", "Block"]
const rank = (one: GateOutcome): number => order.indexOf(one._tag)

describe("the strictest gate wins", () => {
  it("[P2] the result is exactly as strict as the strictest", () => {
    fc.assert(
      fc.property(outcome, outcome, (a, b) => {
        expect(rank(stricter(a, b))).toBe(Math.max(rank(a), rank(b)))
      })
    )
  })

  it("[P2] how gates are grouped does not matter", () => {
    fc.assert(
      fc.property(outcome, outcome, outcome, (a, b, c) => {
        expect(stricter(stricter(a, b), c)).toEqual(stricter(a, stricter(b, c)))
      }),
      { numRuns: 1_000 }
    )
  })

  it("[P2] the order of gates decides only which of equals speaks", () => {
    fc.assert(
      fc.property(outcome, outcome, (a, b) => {
        const isSameKind = a._tag === b._tag
        expect(stricter(a, b)._tag).toBe(stricter(b, a)._tag)
        expect(isSameKind || isDeepStrictEqual(stricter(a, b), stricter(b, a))).toBe(true)
      })
    )
  })

  it("[P2] the same answer twice is that answer", () => {
    fc.assert(
      fc.property(outcome, (a) => {
        const once = stricter(a, a)
        expect(stricter(once, structuredClone(once))).toEqual(once)
        expect(rank(once)).toBe(rank(a))
      })
    )
  })

  it("[P2] confirmations unite: who satisfies the united ticket satisfies each of its parts", () => {
    const confirmations = fc
      .array(requirement, { minLength: 1, maxLength: 3 })
      .map(([first, ...rest]) => requireConfirmation(first!, ...rest))
    const waiting = call({ phase: phases.awaiting("Permission") })
    fc.assert(
      fc.property(confirmations, confirmations, fc.subarray(people), (a, b, allowedBy) => {
        const both = stricter(a, b)
        const complete = (one: GateOutcome): boolean =>
          one._tag === "RequireConfirmation" &&
          isComplete(ticketFor(waiting, { requirements: one.requirements }), allowedBy)
        expect(complete(both)).toBe(complete(a) && complete(b))
      }),
      { numRuns: 1_000 }
    )
  })

  it("[P2] of two schedules the later holds", () => {
    expect([stricter(schedule(5), schedule(9)), stricter(schedule(9), schedule(5))]).toEqual([schedule(9), schedule(9)])
  })

  it("[P2] an unattended run asks nobody, and a run that denies all runs nothing", () => {
    fc.assert(
      fc.property(outcome, (a) => {
        expect(narrow(a, "Configured")).toBe(a)
        expect(narrow(a, "DenyAll")._tag).toBe("Block")
        expect(narrow(a, "Unattended")._tag).toBe(a._tag === "RequireConfirmation" ? "Block" : a._tag)
      })
    )
    expect(narrow(requireConfirmation({ reason: "moves money", rule: "pay: ask" }), "Unattended")).toEqual(
      block("needs approval; nobody can give it", "pay: ask")
    )
  })

  it("[P8] an outcome carries the rule and the kind of action that it was made with, and nothing else", () => {
    expect([block("no", "pay: deny"), block("no"), schedule(5, "report"), schedule(5)]).toEqual([
      { _tag: "Block", reason: "no", rule: "pay: deny" },
      { _tag: "Block", reason: "no" },
      { _tag: "Schedule", at: 5, actionKind: "report" },
      { _tag: "Schedule", at: 5 }
    ])
    expect(Object.keys(block("no"))).toEqual(["_tag", "reason"])
    expect(Object.keys(schedule(5))).toEqual(["_tag", "at"])
  })

  it("[P1] every well-formed outcome is recognised", () => {
    fc.assert(
      fc.property(outcome, (a) => {
        expect(isGateOutcome(a)).toBe(true)
      })
    )
  })

  it("[P1] what is no well-formed outcome is none, so that it blocks", () => {
    const nonsense: ReadonlyArray<unknown> = [
      undefined,
      null,
      "Allow",
      true,
      {},
      { _tag: "allow" },
      { _tag: "Block" },
      { _tag: "Schedule", at: Number.NaN },
      { _tag: "Schedule" },
      { _tag: "SetResult" },
      { _tag: "SetResult", output: { content: [] } },
      { _tag: "SetResult", output: { content: ["text"], isError: false, state: [] } },
      { _tag: "SetResult", output: { content: [{}], isError: false, state: [] } },
      { _tag: "SetResult", output: { content: [], isError: false } },
      { _tag: "SetResult", output: { content: [], state: [] } },
      { _tag: "RequireConfirmation", requirements: [] },
      { _tag: "RequireConfirmation", requirements: [{}] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x" }, {}] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", quorum: 0 }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", quorum: 1.5 }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", deadline: Number.POSITIVE_INFINITY }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers: "ada" }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers: [] }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers: ["ada", 5] }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers: ["ada", "ada"], quorum: 2 }] },
      { _tag: "RequireConfirmation", requirements: [{ reason: "x", requesterMayAnswer: "no" }] }
    ]
    expect(nonsense.map(isGateOutcome)).toEqual(nonsense.map(() => false))
  })
})
