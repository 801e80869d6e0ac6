import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  deadlineOf,
  decide,
  idOf,
  isComplete,
  isEligible,
  type ResumeAnswer,
  type ResumeTicket,
  type TicketAnswer,
  type TicketRefusalReason,
  type TicketState,
  TicketRefused,
  type WaitKind
} from "../src/ResumeTicket.js"
import { allow, requireConfirmation } from "../src/GateOutcome.js"
import { call, phases, ticketFor } from "./kernelWorld.js"

const waiting = call({ phase: phases.awaiting("Permission") })

const open = (changes: Partial<ResumeTicket> = {}): TicketState => ({
  ticket: ticketFor(waiting, changes),
  allowedBy: []
})

const answering = (answer: ResumeAnswer, changes: Partial<TicketAnswer> = {}): TicketAnswer => ({
  ticketId: "ticket",
  answer,
  approver: "bob",
  at: 10,
  ...changes
})

const allowing: ResumeAnswer = { _tag: "Allow" }
const denying: ResumeAnswer = { _tag: "Deny", reason: "too much" }

const refusal = (state: TicketState, given: TicketAnswer): TicketRefusalReason | "accepted" => {
  const verdict = decide(state, given)
  return verdict._tag === "Refused" ? verdict.reason : "accepted"
}

const after = (state: TicketState, given: TicketAnswer): TicketState => {
  const verdict = decide(state, given)
  return verdict._tag === "Refused" ? state : verdict.state
}

describe("tickets have one winner", () => {
  it("[H3] each mismatch with what is on the ticket is its own refusal", () => {
    const expectations = {
      RunMismatch: { runId: "other" },
      ThreadMismatch: { threadId: "other" },
      SnapshotMismatch: { snapshotFingerprint: "other" },
      DigestMismatch: { digest: "other" },
      ToolMismatch: { toolIdentity: "other" }
    }
    for (const [reason, expect_] of Object.entries(expectations))
      expect(decide(open(), answering(allowing, { expect: expect_ }))).toEqual({ _tag: "Refused", reason })
    const { digest, runId, snapshotFingerprint, threadId, toolIdentity } = open().ticket
    const all = { digest, runId, snapshotFingerprint, threadId, toolIdentity }
    expect(refusal(open(), answering(allowing, { expect: all }))).toBe("accepted")
  })

  it("[H2] each kind of wait takes its own kinds of answers and no other", () => {
    const answers: ReadonlyArray<ResumeAnswer> = [
      { _tag: "Allow" },
      { _tag: "Deny" },
      { _tag: "Edit", arguments: {} },
      { _tag: "ToolResult", content: [] },
      { _tag: "Input", text: "" },
      { _tag: "Continue" },
      { _tag: "Due" },
      { _tag: "Expire" }
    ]
    const taken = (kind: WaitKind): ReadonlyArray<string> =>
      answers
        .filter(
          (answer) =>
            refusal(open({ kind, deadline: 50, dueAt: 5 }), answering(answer, { at: 60 })) !== "AnswerKindMismatch"
        )
        .map((answer) => answer._tag)
    expect({
      Permission: taken("Permission"),
      Client: taken("Client"),
      Schedule: taken("Schedule"),
      Input: taken("Input"),
      Delegation: taken("Delegation"),
      Pause: taken("Pause")
    }).toEqual({
      Permission: ["Allow", "Deny", "Edit", "Expire"],
      Client: ["Deny", "ToolResult", "Expire"],
      Schedule: ["Deny", "Due", "Expire"],
      Input: ["Deny", "Input", "Expire"],
      Delegation: ["ToolResult", "Expire"],
      Pause: ["Input", "Continue"]
    })
  })

  it("[H3] an approver who is not eligible counts for nothing, whatever he answers", () => {
    const named = open({ requirements: [{ reason: "moves money", approvers: ["bob"] }] })
    const foreign = { approver: "mallory" }
    const edit: ResumeAnswer = { _tag: "Edit", arguments: {} }
    expect([allowing, denying, edit].map((answer) => refusal(named, answering(answer, foreign)))).toEqual([
      "NotEligible",
      "NotEligible",
      "NotEligible"
    ])
    const notMyself = open({ requirements: [{ reason: "moves money", requesterMayAnswer: false }] })
    expect(refusal(notMyself, answering(allowing, { approver: "ada" }))).toBe("NotEligible")
    expect(refusal(notMyself, answering(allowing))).toBe("accepted")
  })

  it("[H3] a quorum counts each eligible approver once, and the answer that completes it uses the ticket up", () => {
    const two = open({ requirements: [{ reason: "moves money", approvers: ["bob", "cleo", "dora"], quorum: 2 }] })
    const first = decide(two, answering(allowing))
    expect(first).toEqual({ _tag: "Counted", state: { ticket: two.ticket, allowedBy: ["bob"] } })
    const counted = after(two, answering(allowing))
    expect(refusal(counted, answering(allowing))).toBe("AlreadyCounted")
    expect(decide(counted, answering({ _tag: "Allow", note: "go" }, { approver: "cleo" }))).toEqual({
      _tag: "Decided",
      state: {
        ticket: two.ticket,
        allowedBy: ["bob", "cleo"],
        decision: { _tag: "Allowed", by: ["bob", "cleo"], note: "go" }
      },
      decision: { _tag: "Allowed", by: ["bob", "cleo"], note: "go" }
    })
  })

  it("[H3] the same person under another spelling does not count twice, and is not let in where the requester is excluded", () => {
    const spellings = ["zoë", "Zoë", " zoë ", "zoe\u0308", "zo\u200bë", "ｚｏë", "zoë\u00a0"]
    const two = open({ requirements: [{ reason: "moves money", quorum: 2 }] })
    const others = open({ principal: "zoë", requirements: [{ reason: "moves money", requesterMayAnswer: false }] })
    for (const first of spellings)
      for (const approver of spellings) {
        const counted = decide(two, answering(allowing, { approver: first }))
        if (counted._tag !== "Counted") throw new Error("expected it to be counted")
        expect(refusal(counted.state, answering(allowing, { approver }))).toBe("AlreadyCounted")
        expect(refusal(others, answering(allowing, { approver }))).toBe("NotEligible")
      }
    const counted = decide(two, answering(allowing, { approver: "zoë" }))
    if (counted._tag !== "Counted") throw new Error("expected it to be counted")
    expect(decide(counted.state, answering(allowing, { approver: "zoe" }))._tag).toBe("Decided")
    const named = open({ requirements: [{ reason: "moves money", approvers: ["zoë"] }] })
    expect(refusal(named, answering(allowing, { approver: "Zoë" }))).toBe("NotEligible")
  })

  it("[H3, P2] several requirements must each have their quorum; one approver may serve several", () => {
    const { ticket } = open({
      requirements: [
        { reason: "money", approvers: ["bob", "cleo"] },
        { reason: "law", approvers: ["cleo", "dora"] }
      ]
    })
    expect([[], ["bob"], ["cleo"], ["bob", "dora"], ["dora"]].map((by) => isComplete(ticket, by))).toEqual([
      false,
      false,
      true,
      true,
      false
    ])
    expect(ticket.requirements.map((one) => isEligible(ticket, one, "cleo"))).toEqual([true, true])
  })

  it("[H3, P2] whoever is eligible for one of several requirements is heard", () => {
    const shared = open({
      requirements: [
        { reason: "money", approvers: ["bob"] },
        { reason: "law", approvers: ["dora"] }
      ]
    })
    expect(decide(shared, answering(allowing))).toMatchObject({ _tag: "Counted", state: { allowedBy: ["bob"] } })
    expect(decide(shared, answering(denying))).toMatchObject({ _tag: "Decided", decision: { _tag: "Denied" } })
  })

  it("[H3] one denial decides at once, in the middle of a quorum too", () => {
    const two = open({ requirements: [{ reason: "moves money", quorum: 2 }] })
    const counted = after(two, answering(allowing, { approver: "cleo" }))
    expect(decide(counted, answering(denying))).toMatchObject({
      _tag: "Decided",
      decision: { _tag: "Denied", by: "bob", reason: "too much", expired: false }
    })
  })

  it("[H3] a decided ticket tells how it was decided and stays as it is", () => {
    const decided = after(open(), answering(denying))
    for (const answer of [allowing, denying, { _tag: "Expire" }] as const)
      expect(decide(decided, answering(answer, { at: 1_000 }))).toEqual({
        _tag: "Refused",
        reason: "AlreadyDecided",
        decision: { _tag: "Denied", by: "bob", reason: "too much", expired: false }
      })
  })

  it("[H3] a ticket that is void waits for nobody", () => {
    const state: TicketState = { ...open(), decision: { _tag: "Void", reason: "the run ended" } }
    expect(refusal(state, answering(allowing))).toBe("NotWaiting")
  })

  it("[H5] an answer counts before the deadline and not at it, expiry counts at it and not before", () => {
    const limited = open({ deadline: 100 })
    const at = (moment: number, answer: ResumeAnswer): string => refusal(limited, answering(answer, { at: moment }))
    expect([at(99, allowing), at(100, allowing), at(99, { _tag: "Expire" }), at(100, { _tag: "Expire" })]).toEqual([
      "accepted",
      "Expired",
      "NotDue",
      "accepted"
    ])
    expect(refusal(open(), answering({ _tag: "Expire" }, { at: 1e12 }))).toBe("NotDue")
  })

  it("[H5] the clock needs no eligibility", () => {
    const named = open({ deadline: 100, requirements: [{ reason: "moves money", approvers: ["bob"] }] })
    const expire = answering({ _tag: "Expire" }, { approver: "clock", at: 100 })
    const scheduled = open({ kind: "Schedule", dueAt: 5, requirements: [{ reason: "later", approvers: ["bob"] }] })
    expect([refusal(named, expire), refusal(scheduled, answering({ _tag: "Due" }, { approver: "clock" }))]).toEqual([
      "accepted",
      "accepted"
    ])
  })

  it("[H5] expiry is a denial that says so", () => {
    expect(decide(open({ deadline: 100 }), answering({ _tag: "Expire" }, { at: 100 }))).toMatchObject({
      decision: { _tag: "Denied", by: "clock", reason: "nobody answered in time", expired: true }
    })
  })

  it("[P2] a scheduled call is due at its moment", () => {
    const scheduled = open({ kind: "Schedule", dueAt: 100, requirements: [] })
    const due: ResumeAnswer = { _tag: "Due" }
    expect([99, 100].map((at) => refusal(scheduled, answering(due, { at })))).toEqual(["NotDue", "accepted"])
    expect(refusal(open({ kind: "Schedule", requirements: [] }), answering(due))).toBe("NotDue")
  })

  it("[H3, H5] of any answers in any order, exactly one decides, and what it decided stays", () => {
    const one = fc.record({
      approver: fc.constantFrom("bob", "cleo", "dora", "mallory", "ada"),
      at: fc.integer({ min: 0, max: 120 }),
      answer: fc.constantFrom<ResumeAnswer>(
        allowing,
        denying,
        { _tag: "Edit", arguments: { amount: 1 } },
        { _tag: "Expire" }
      )
    })
    const limited = open({
      deadline: 100,
      requirements: [{ reason: "moves money", approvers: ["bob", "cleo", "dora"], quorum: 2 }]
    })
    fc.assert(
      fc.property(fc.array(one, { minLength: 20, maxLength: 20 }), (racing) => {
        let state = limited
        let decided = 0
        for (const given of racing) {
          const verdict = decide(state, { ticketId: "ticket", ...given })
          // Whoever is refused is told of the decision that stands; whoever is accepted found none.
          expect(verdict._tag === "Refused" ? verdict.decision : undefined).toBe(state.decision)
          if (verdict._tag === "Refused") continue
          if (verdict._tag === "Decided") decided++
          state = verdict.state
        }
        expect(decided).toBe(state.decision === undefined ? 0 : 1)
        expect(new Set(state.allowedBy).size).toBe(state.allowedBy.length)
      }),
      { numRuns: 1_000 }
    )
  })

  it("[H3] a refusal changes nothing", () => {
    const state = open({ requirements: [{ reason: "moves money", approvers: ["bob"] }] })
    const before = structuredClone(state)
    decide(state, answering(allowing, { approver: "mallory" }))
    decide(state, answering(allowing))
    expect(state).toEqual(before)
  })

  it("[H1] a ticket's id comes from operation, kind and proposal, so that a repeat is the same ticket", () => {
    expect(idOf("run/1/0", "Permission", 2)).toBe("run/1/0:Permission:2")
  })

  it("[P2] the earliest deadline of the requirements holds", () => {
    expect([
      deadlineOf(requireConfirmation({ reason: "a", deadline: 9 }, { reason: "b", deadline: 5 }, { reason: "c" })),
      deadlineOf(requireConfirmation({ reason: "c" })),
      deadlineOf(allow)
    ]).toEqual([5, undefined, undefined])
  })

  it("[H3] the refusal that a caller sees names ticket, reason and decision", () => {
    const refused = new TicketRefused({
      ticketId: "t",
      reason: "AlreadyDecided",
      decision: { _tag: "Void", reason: "x" }
    })
    expect([refused._tag, refused.ticketId, refused.reason, refused.decision, refused.message]).toEqual([
      "TicketRefused",
      "t",
      "AlreadyDecided",
      { _tag: "Void", reason: "x" },
      "answer to ticket t refused: AlreadyDecided"
    ])
  })
})
