import { GateOutcome, type PermissionGate, type ResumeTicket, ToolBatch } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { ask, call, makeWorld, rawTool, snapshotOf } from "./support/world.js"
import { PermissionGate as Gates } from "@toolwright/runtime-contract"

const principal = "ada"
const asks: PermissionGate.PermissionGate = { id: "asks", decide: () => ask() }
const note = (recorder: Parameters<NonNullable<Parameters<typeof makeWorld>[0]["tools"]>>[0]) => [
  recorder.tool({ id: "note" })
]

const waiting = async (given: Partial<Parameters<typeof makeWorld>[0]> = {}) => {
  const world = makeWorld({ script: [{ calls: [call("note", { n: 1 })] }, "Done."], tools: note, gate: asks, ...given })
  const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
  const [ticket] = outcome.tickets
  if (ticket === undefined) throw new Error("no ticket")
  return { ...world, outcome, ticket, approver: { approver: "bob" } }
}

describe("people answer", () => {
  it("[H1] a wait commits a ticket of plain data, and the run rests without holding anything", async () => {
    const { outcome, ticket, watched, clock } = await waiting()
    expect(outcome.disposition).toEqual({ _tag: "Awaiting", tickets: [ticket.id] })
    expect(JSON.parse(JSON.stringify(ticket))).toEqual(ticket)
    expect(ticket).toMatchObject({
      kind: "Permission",
      toolId: "note",
      arguments: { n: 1 },
      principal,
      threadId: "t",
      proposal: 0
    })
    expect(watched.summary).toEqual(["start", "Open 0:Awaiting > Awaiting"])
    expect(clock.pending).toBe(0)
  })

  it("[H4] an accepted answer is a commit of its own, before the call runs", async () => {
    const { runtime, ticket, watched, recorder, approver } = await waiting()
    const outcome = await runtime.resume(ticket.id, { _tag: "Allow" }, approver)
    expect(watched.summary.slice(2)).toEqual([
      "Change 0:Approved",
      "Change 0:Executing",
      "Publish 0:Completed",
      "assistant > Ended NaturalEnd"
    ])
    expect(recorder.effects.map((effect) => [effect.operationId, effect.arguments])).toEqual([
      [ticket.operationId, { n: 1 }]
    ])
    expect(outcome.text).toBe("Done.")
    expect(watched.commits[2]?.audit).toMatchObject([{ type: "Answer", outcome: "Allowed", by: "bob" }])
  })

  it("[H4] a denial is told to the model as a result, with its reason", async () => {
    const { runtime, ticket, recorder, approver } = await waiting()
    const outcome = await runtime.resume(ticket.id, { _tag: "Deny", reason: "too dear" }, approver)
    expect(recorder.effects).toEqual([])
    expect(outcome.messages.at(2)).toMatchObject({
      outcome: "NotRun",
      content: [{ text: "note was denied: too dear" }]
    })
  })

  it("[H3] of twenty racing answers one wins, and the others learn how it was decided", async () => {
    const { runtime, ticket, recorder } = await waiting()
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => runtime.resume(ticket.id, { _tag: "Allow" }, { approver: `p${index}` }))
    )
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as object] : []))
    expect(refused).toMatchObject(
      Array.from({ length: 19 }, () => ({ _tag: "TicketRefused", reason: "AlreadyDecided" }))
    )
    expect(recorder.effects.length).toBe(1)
  })

  it("[H3] each mismatch is its own error, and the ticket stays as it was", async () => {
    const { runtime, ticket, approver, memory } = await waiting()
    const allow: ResumeTicket.ResumeAnswer = { _tag: "Allow" }
    const cases: ReadonlyArray<readonly [ResumeTicket.ResumeAnswer, object, string]> = [
      [allow, { expect: { runId: "other" } }, "RunMismatch"],
      [allow, { expect: { threadId: "other" } }, "ThreadMismatch"],
      [allow, { expect: { digest: "other" } }, "DigestMismatch"],
      [allow, { expect: { toolIdentity: "other" } }, "ToolMismatch"],
      [allow, { expect: { snapshotFingerprint: "other" } }, "SnapshotMismatch"],
      [{ _tag: "Input", text: "x" }, {}, "AnswerKindMismatch"]
    ]
    for (const [answer, more, reason] of cases)
      await expect(runtime.resume(ticket.id, answer, { ...approver, ...more })).rejects.toMatchObject({ reason })
    await expect(runtime.resume("none", allow, approver)).rejects.toMatchObject({ reason: "NotWaiting" })
    await expect(runtime.resume(ticket.id, allow, { approver: "" })).rejects.toMatchObject({ reason: "NotEligible" })
    const { Effect } = await import("effect")
    const state = await Effect.runPromise(memory.ticket(ticket.id))
    expect(state).toEqual({ ticket, allowedBy: [] })
  })

  it("[H3] the answer that completes the quorum uses the ticket up, and each approver counts once", async () => {
    const quorum: PermissionGate.PermissionGate = {
      id: "two",
      decide: () =>
        GateOutcome.requireConfirmation({
          reason: "dear",
          quorum: 2,
          approvers: ["bob", "eve"],
          requesterMayAnswer: false
        })
    }
    const { runtime, ticket, recorder } = await waiting({ gate: quorum })
    const first = await runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "bob" })
    expect([first.disposition._tag, recorder.effects.length]).toEqual(["Awaiting", 0])
    await expect(runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "bob" })).rejects.toMatchObject({
      reason: "AlreadyCounted"
    })
    await expect(runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "mallory" })).rejects.toMatchObject({
      reason: "NotEligible"
    })
    const second = await runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "eve" })
    expect([second.text, recorder.effects.length]).toEqual(["Done.", 1])
  })

  it("[H4] an edit is a new proposal: it runs under the same operation, counts as its editor's allow, and the result says so", async () => {
    const { runtime, ticket, recorder, approver, watched } = await waiting()
    const outcome = await runtime.resume(ticket.id, { _tag: "Edit", arguments: { n: 2 } }, approver)
    // Both digests are in the chain: what was shown, and what was asked for instead.
    expect(watched.commits[2]?.audit.at(-1)).toMatchObject({
      type: "Answer",
      outcome: "Edited",
      by: "bob",
      digest: ticket.digest,
      detail: { editedTo: ToolBatch.digestOf({ n: 2 }) }
    })
    expect(recorder.effects.map((effect) => [effect.operationId, effect.arguments])).toEqual([
      [ticket.operationId, { n: 2 }]
    ])
    expect(watched.summary[2]).toBe("Change 0:Approved")
    expect(outcome.messages.at(1)).toMatchObject({ content: [{ arguments: { n: 1 } }] })
    expect(JSON.stringify(outcome.messages.at(2))).toContain('What was run: note {\\"n\\":2}')
  })

  it("[H4] an edit is validated before it is accepted, and the ticket is kept when it does not fit", async () => {
    const tool = rawTool({
      id: "note",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false }
    })
    const { runtime, ticket, approver } = await waiting({ tools: () => [tool] })
    await expect(runtime.resume(ticket.id, { _tag: "Edit", arguments: { n: "two" } }, approver)).rejects.toMatchObject({
      _tag: "TicketRefused",
      reason: "InvalidArguments"
    })
    expect((await runtime.resume(ticket.id, { _tag: "Allow" }, approver)).text).toBe("Done.")
  })

  it("[H4] an edit that the gates block is not run, and one that they want more for gets a new ticket", async () => {
    const strict: PermissionGate.PermissionGate = {
      id: "strict",
      decide: ({ arguments: args }) =>
        args["n"] === 1
          ? ask()
          : args["n"] === 2
            ? GateOutcome.block("never two")
            : GateOutcome.requireConfirmation({ reason: "more", quorum: 2 })
    }
    const blocked = await waiting({ gate: strict })
    const outcome = await blocked.runtime.resume(
      blocked.ticket.id,
      { _tag: "Edit", arguments: { n: 2 } },
      blocked.approver
    )
    expect([outcome.text, blocked.recorder.effects.length]).toEqual(["Done.", 0])

    const asked = await waiting({ gate: strict })
    const again = await asked.runtime.resume(asked.ticket.id, { _tag: "Edit", arguments: { n: 3 } }, asked.approver)
    const [next] = again.tickets
    expect([next?.proposal, next?.arguments]).toEqual([1, { n: 3 }])
    await expect(asked.runtime.resume(asked.ticket.id, { _tag: "Allow" }, asked.approver)).rejects.toMatchObject({
      reason: "AlreadyDecided"
    })
    await expect(asked.runtime.resume(next?.id ?? "", { _tag: "Allow" }, asked.approver)).rejects.toMatchObject({
      reason: "AlreadyCounted"
    })
    expect((await asked.runtime.resume(next?.id ?? "", { _tag: "Allow" }, { approver: "eve" })).text).toBe("Done.")
    expect(asked.recorder.effects.map((effect) => effect.arguments)).toEqual([{ n: 3 }])
  })

  it("[H6] each ticket of a batch is answered by its own, in any order, and finished siblings never run again", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note", { n: 0 }), call("note", { n: 1 }), call("note", { n: 2 })] }, "Done."],
      tools: note,
      gate: asks
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    const [first, second, third] = outcome.tickets
    const middle = await world.runtime.resume(second?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect(middle.tickets.map(({ id }) => id)).toEqual([first?.id, third?.id])
    await world.runtime.resume(third?.id ?? "", { _tag: "Deny" }, { approver: "bob" })
    const end = await world.runtime.resume(first?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect(end.text).toBe("Done.")
    expect(world.recorder.effects.map((effect) => effect.arguments)).toEqual([{ n: 1 }, { n: 0 }])
    expect([...end.messages].filter((message) => message.role === "tool").map((message) => message.outcome)).toEqual([
      "Completed",
      "Completed",
      "NotRun"
    ])
  })

  it("[H5] an expired wait is a denial that says so, decided once, and a late answer is refused though nobody looked", async () => {
    const timed: PermissionGate.PermissionGate = {
      id: "timed",
      decide: () => GateOutcome.requireConfirmation({ reason: "soon", deadline: 5_000 })
    }
    const { runtime, ticket, clock, approver, recorder } = await waiting({ gate: timed })
    clock.advanceTo(5_000)
    await expect(runtime.resume(ticket.id, { _tag: "Allow" }, approver)).rejects.toMatchObject({ reason: "Expired" })
    const [recovered] = await runtime.recover()
    expect(recovered?.outcome?.messages.at(2)).toMatchObject({
      outcome: "NotRun",
      content: [{ text: "note was not approved in time" }]
    })
    expect(recorder.effects).toEqual([])
    expect(await runtime.recover()).toEqual([])
  })

  it("[P2] a scheduled call waits for its time and runs once when it is due", async () => {
    const later: PermissionGate.PermissionGate = { id: "later", decide: () => GateOutcome.schedule(9_000) }
    const { runtime, ticket, clock, recorder, approver } = await waiting({ gate: later })
    expect([ticket.kind, ticket.dueAt]).toEqual(["Schedule", 9_000])
    await expect(runtime.resume(ticket.id, { _tag: "Due" }, approver)).rejects.toMatchObject({ reason: "NotDue" })
    expect(await runtime.recover()).toEqual([])
    clock.advanceTo(9_000)
    const [recovered] = await runtime.recover()
    expect([recovered?.why, recovered?.outcome?.text, recorder.effects.length]).toEqual(["ScheduleDue", "Done.", 1])
  })

  it("[T16] a client-executed call is gated, handed out, and its result is checked and labelled as foreign", async () => {
    const tool = rawTool(
      {
        id: "note",
        kind: "ClientExecuted",
        outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
      },
      () => {
        throw new Error("never run here")
      }
    )
    const { runtime, ticket, approver } = await waiting({ tools: () => [tool], gate: Gates.allowAll })
    expect(ticket.kind).toBe("Client")
    const content = [{ type: "text" as const, text: "seven" }]
    await expect(
      runtime.resume(ticket.id, { _tag: "ToolResult", content, data: { n: "7" } }, approver)
    ).rejects.toMatchObject({ reason: "InvalidArguments" })
    const odd = [{ type: "text" }] as never
    await expect(
      runtime.resume(ticket.id, { _tag: "ToolResult", content: odd, data: { n: 7 } }, approver)
    ).rejects.toMatchObject({ reason: "InvalidArguments" })
    const outcome = await runtime.resume(ticket.id, { _tag: "ToolResult", content, data: { n: 7 } }, approver)
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "Completed", foreign: true, data: { n: 7 }, content })
  })

  it("[T16] a client-executed call that needs approval is approved first and handed out then", async () => {
    const tool = rawTool({ id: "note", kind: "ClientExecuted" })
    const { runtime, ticket, approver } = await waiting({ tools: () => [tool] })
    expect(ticket.kind).toBe("Permission")
    const handed = await runtime.resume(ticket.id, { _tag: "Allow" }, approver)
    expect(handed.tickets.map(({ kind }) => kind)).toEqual(["Client"])
    const [next] = handed.tickets
    const outcome = await runtime.resume(next?.id ?? "", { _tag: "Deny", reason: "not me" }, approver)
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "NotRun", content: [{ text: "note was denied: not me" }] })
  })

  it("[N2] allow and edit are refused when the installed tool is another, the ticket is kept, and deny always works", async () => {
    const world = await waiting()
    const other = rawTool({ id: "note", version: "2" })
    const { llm, watched, clock, approver } = world
    const elsewhere = Runtime.make({ llm, gate: asks, tools: [other], store: watched.store, clock })
    for (const answer of [{ _tag: "Allow" }, { _tag: "Edit", arguments: {} }] as const)
      await expect(elsewhere.resume(world.ticket.id, answer, approver)).rejects.toMatchObject({ reason: "ToolChanged" })
    const outcome = await elsewhere.resume(world.ticket.id, { _tag: "Deny" }, approver)
    expect(outcome.text).toBe("Done.")
  })

  it("[H2] another runtime over the same store, with another owner, goes on where the first rested", async () => {
    const world = await waiting()
    await world.runtime.close()
    const { llm, watched, clock, tools, approver } = world
    const elsewhere = Runtime.make({ llm, gate: asks, tools, store: watched.store, clock })
    const outcome = await elsewhere.resume(world.ticket.id, { _tag: "Allow" }, approver)
    expect([outcome.text, world.recorder.effects.length]).toEqual(["Done.", 1])
  })

  it("[C2] a run rests while a call waits behind a waiting one, and goes on with both when it is answered", async () => {
    const serial = { _tag: "Serial" } as const
    const world = makeWorld({
      script: [{ calls: [call("first"), call("second")] }, "Done."],
      tools: (recorder) => [
        recorder.tool({ id: "first", concurrency: serial }),
        recorder.tool({ id: "second", concurrency: serial })
      ],
      gate: { id: "some", decide: ({ tool }) => (tool.id === "first" ? ask() : GateOutcome.allow) }
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect(outcome.disposition._tag).toBe("Awaiting")
    expect(world.watched.summary[1]).toBe("Open 0:Awaiting 1:Requested > Awaiting")
    const end = await world.runtime.resume(outcome.tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect(world.recorder.effects.map((effect) => effect.toolId)).toEqual(["first", "second"])
    expect(end.text).toBe("Done.")
  })
})
