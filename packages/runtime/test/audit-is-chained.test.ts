import { AuditChain, GateOutcome, type ThreadCommit, type ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { forwarding } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { ask, call, makeWorld, snapshotOf } from "./support/world.js"

const principal = "ada"

const waiting = async () => {
  const world = makeWorld({
    script: [{ calls: [call("note", { n: 0 })] }, { calls: [call("note", { n: 1 })] }, "Done."],
    tools: (recorder) => [recorder.tool({ id: "note" })],
    gate: { id: "some", decide: ({ arguments: args }) => (args["n"] === 0 ? GateOutcome.allow : ask()) }
  })
  const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
  const [ticket] = outcome.tickets
  if (ticket === undefined) throw new Error("no ticket")
  return { ...world, ticket }
}

const records = (commits: ReadonlyArray<ThreadCommit.ThreadCommit>) =>
  commits.flatMap(({ audit }) => audit.map(({ type, outcome, by }) => `${type} ${outcome} ${by}`))

describe("the audit is chained", () => {
  it("[P8] decisions, refused answers, answers and controls are committed records under one chain", async () => {
    const { runtime, ticket, watched } = await waiting()
    const allow = { _tag: "Allow" } as const
    await expect(
      runtime.resume(ticket.id, allow, { approver: "bob", expect: { digest: "forged" } })
    ).rejects.toMatchObject({ reason: "DigestMismatch" })
    await expect(
      runtime.resume(ticket.id, allow, { approver: "bob", expect: { digest: "forged" } })
    ).rejects.toMatchObject({ reason: "DigestMismatch" })
    await runtime.resume(ticket.id, allow, { approver: "bob" })
    expect(records(watched.commits)).toEqual([
      "Decision Allow some",
      "Decision RequireConfirmation some",
      "Refusal DigestMismatch bob",
      "Answer Allowed bob"
    ])
    const report = await runtime.verifyAudit({ threadId: "t" })
    expect(report).toMatchObject({ records: 4, open: 0, flaws: [] })
    expect(report.head).toMatch(/^[0-9a-f]{64}$/)
  })

  it("[P8] an allowed call costs no hash until the run rests or ends, and no record is left without a head there", async () => {
    const { watched } = await waiting()
    expect(watched.commits.map((commit) => [commit.audit.length, commit.auditHead !== undefined])).toEqual([
      [0, false],
      [1, false],
      [0, false],
      [1, true]
    ])
  })

  it("[H3] a refused answer at rest is a commit of its own that changes nothing else, and nobody has to look after it", async () => {
    const { runtime, ticket, watched, memory } = await waiting()
    const before = await Effect.runPromise(memory.load("t"))
    await expect(runtime.resume(ticket.id, { _tag: "Continue" }, { approver: "mallory" })).rejects.toMatchObject({
      reason: "AnswerKindMismatch"
    })
    const after = await Effect.runPromise(memory.load("t"))
    expect([after?.tickets, after?.batch, after?.disposition, after?.inbox]).toEqual([
      before?.tickets,
      before?.batch,
      before?.disposition,
      []
    ])
    expect(watched.commits.at(-1)?.audit).toMatchObject([
      {
        type: "Refusal",
        outcome: "AnswerKindMismatch",
        by: "mallory",
        toolId: "note",
        digest: ticket.digest,
        detail: { ticketId: ticket.id, answer: "Continue" }
      }
    ])
    expect(await runtime.recover()).toEqual([])
  })

  it("[P8] a changed, missing, added or moved record is found, and the report says between which facts", async () => {
    const { runtime, ticket, memory, llm, tools, clock } = await waiting()
    await runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "bob" })
    const damaged = (
      change: (facts: ReadonlyArray<ThreadStore.NumberedFact>) => ReadonlyArray<ThreadStore.NumberedFact>
    ) => {
      const store = forwarding(memory, { tail: (request) => Effect.map(memory.tail(request), change) })
      return Runtime.make({ llm, gate: { id: "g", decide: () => GateOutcome.allow }, tools, clock, store }).verifyAudit(
        { threadId: "t" }
      )
    }
    const isAnswer = ({ fact }: ThreadStore.NumberedFact) => fact.type === "Decided" && fact.record.type === "Answer"
    const forged = await damaged((facts) =>
      facts.map((one) =>
        isAnswer(one) && one.fact.type === "Decided"
          ? { ...one, fact: { ...one.fact, record: { ...one.fact.record, by: "eve" } } }
          : one
      )
    )
    const at = (await Effect.runPromise(memory.tail({ threadId: "t", from: 1 }))).find(isAnswer)?.number ?? 0
    expect(forged.flaws.map(({ _tag, to }) => [_tag, to])).toEqual([["Changed", at]])
    expect(
      (await damaged((facts) => facts.filter(({ fact }) => fact.type !== "Decided" || fact.record.outcome !== "Allow")))
        .flaws.length
    ).toBe(1)
    expect((await damaged((facts) => facts.filter(({ number }) => number < at - 2))).flaws.at(-1)?._tag).toBe(
      "Truncated"
    )
  })

  it("[P8] any change to any record breaks the chain at the head behind it, and another thread's records never fit", () => {
    const record = fc.record({
      type: fc.constantFrom("Decision", "Answer", "Grant"),
      at: fc.nat(),
      outcome: fc.string(),
      by: fc.string(),
      rule: fc.option(fc.string(), { nil: undefined }),
      detail: fc.option(fc.jsonValue(), { nil: undefined })
    })
    const clean = (one: object) => JSON.parse(JSON.stringify(one)) as ThreadCommit.AuditRecord
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 8 }), fc.nat(), (made, pick) => {
        let head = AuditChain.genesis("t")
        const entries = made.map(clean).map((one, index) => {
          head = AuditChain.next(head, [one])
          return { number: index + 1, record: one, head }
        })
        expect(AuditChain.verifyAudit({ threadId: "t", entries, expected: head }).flaws).toEqual([])
        const at = pick % entries.length
        const forged = entries.map((one, index) =>
          index === at ? { ...one, record: { ...one.record, by: `${one.record.by}.` } } : one
        )
        expect(AuditChain.verifyAudit({ threadId: "t", entries: forged }).flaws).toEqual([
          { _tag: "Changed", from: at + 1, to: at + 1 }
        ])
        expect(
          AuditChain.verifyAudit({ threadId: "t", entries: entries.slice(0, -1), expected: head }).flaws
        ).toMatchObject([{ _tag: "Truncated" }])
        expect(AuditChain.verifyAudit({ threadId: "u", entries }).flaws[0]).toEqual({ _tag: "Changed", from: 1, to: 1 })
      })
    )
  })
})
