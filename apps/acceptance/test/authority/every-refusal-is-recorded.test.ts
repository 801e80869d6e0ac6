import { PermissionGate } from "@toolwright/permissions"
import { type ResumeTicket, SystemThread, type ThreadCommit, type ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { call, inWorld, overBoth, type WorldOptions } from "./world.js"

const gate = PermissionGate.make({ ask: ["note"], workspace: "/work/place" })
const allow = { _tag: "Allow" } as const
const today = SystemThread.ofRefusals(1_000)

/** Every run calls once and is done. */
const onceEach: WorldOptions["script"] = ({ messages }) =>
  messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("note")] }

const recordsOf = async (store: ThreadStore.ThreadStore, threadId: string) =>
  (await Effect.runPromise(store.tail({ threadId, from: 1 }))).flatMap(
    ({ fact }): ReadonlyArray<ThreadCommit.AuditRecord> => (fact.type === "Decided" ? [fact.record] : [])
  )

const refusals = async (store: ThreadStore.ThreadStore, threadId: string) =>
  (await recordsOf(store, threadId)).filter(({ type }) => type === "Refusal")

overBoth("every refused answer is a committed record", (open) => {
  const world: WorldOptions = { open, gate, script: onceEach }

  it("[P8] [H3] an answer to a ticket of an ended run is recorded in its thread's chain, once, and the run stays ended as it was", () =>
    inWorld(world, async ({ runtime, start, store }) => {
      const [ticket] = (await start()).tickets
      const ticketId = ticket?.id ?? ""
      await runtime.cancel({ threadId: "t" })
      const before = await Effect.runPromise(store.load("t"))
      for (const approver of ["eve", "eve", "mallory"])
        await expect(runtime.resume(ticketId, allow, { approver })).rejects.toMatchObject({ reason: "NotWaiting" })
      expect(await refusals(store, "t")).toEqual(
        ["eve", "mallory"].map((by) => ({
          type: "Refusal",
          at: 1_000,
          operationId: ticket?.operationId,
          toolId: "note",
          digest: ticket?.digest,
          outcome: "NotWaiting",
          rule: "after the end",
          by,
          detail: { ticketId, answer: "Allow" }
        }))
      )
      const after = await Effect.runPromise(store.load("t"))
      expect([after?.disposition, after?.messages.length, after?.inbox]).toEqual([
        before?.disposition,
        before?.messages.length,
        []
      ])
      expect(await runtime.verifyAudit({ threadId: "t" })).toMatchObject({ open: 0, flaws: [] })
      expect((await start()).disposition._tag).toBe("Awaiting")
    }))

  it("[P8] [H3] a blank, a missing, a forged and a foreign answer each leave their own record, the ticket as it was", () =>
    inWorld(world, async ({ runtime, start, store }) => {
      const [ticket] = (await start()).tickets
      const ticketId = ticket?.id ?? ""
      const attempts: ReadonlyArray<readonly [ResumeTicket.TicketRefusalReason, object]> = [
        ["NotEligible", { approver: "  " }],
        ["NotEligible", { approver: undefined }],
        ["DigestMismatch", { approver: "eve", expect: { digest: "0".repeat(64) } }],
        ["ThreadMismatch", { approver: "eve", expect: { threadId: "u" } }]
      ]
      for (const [reason, options] of attempts)
        await expect(
          // What a host may pass on from outside.
          runtime.resume(ticketId, allow, options as { readonly approver: string })
        ).rejects.toMatchObject({ _tag: "TicketRefused", reason })
      expect((await refusals(store, "t")).map(({ outcome, by }) => [outcome, by])).toEqual([
        ["NotEligible", "  "],
        ["NotEligible", ""],
        ["DigestMismatch", "eve"],
        ["ThreadMismatch", "eve"]
      ])
      expect((await runtime.verifyAudit({ threadId: "t" })).flaws).toEqual([])
      await expect(runtime.resume(ticketId, { _tag: "Please" } as never, { approver: "eve" })).rejects.toMatchObject({
        reason: { _tag: "BadRequest", option: "answer" }
      })
      expect((await runtime.resume(ticketId, allow, { approver: "bob" })).text).toBe("Done.")
    }))

  it("[P8] an answer that names no ticket of any thread, or one of an earlier run, is recorded in the day's own thread", () =>
    inWorld(world, async ({ runtime, start, store, clock }) => {
      const [ticket] = (await start()).tickets
      await runtime.resume(ticket?.id ?? "", allow, { approver: "bob" })
      await start()
      for (const ticketId of ["made-up", "made-up", ticket?.id ?? ""])
        await expect(runtime.resume(ticketId, allow, { approver: "eve" })).rejects.toMatchObject({
          reason: "NotWaiting"
        })
      clock.advance(24 * 60 * 60 * 1_000)
      await expect(runtime.resume("x".repeat(10_000), allow, { approver: "eve" })).rejects.toMatchObject({
        reason: "NotWaiting"
      })
      const found = (await refusals(store, today)).map(({ by, detail }) => [by, detail])
      expect(found).toEqual([
        ["eve", { ticketId: "made-up", answer: "Allow" }],
        ["eve", { ticketId: ticket?.id, answer: "Allow" }]
      ])
      expect((await refusals(store, SystemThread.ofRefusals(clock.now()))).map(({ detail }) => detail)).toEqual([
        { ticketId: "x".repeat(256), answer: "Allow" }
      ])
      expect(await runtime.verifyAudit({ threadId: today })).toMatchObject({ records: 2, open: 0, flaws: [] })
      expect(await refusals(store, "t")).toEqual([])
      expect(await runtime.recover()).toEqual([])
    }))

  it("[P8] answers refused at once in two processes are all recorded", () =>
    inWorld(world, async ({ runtime, elsewhere, store }) => {
      const other = await elsewhere()
      const attempts = Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? runtime : other).resume("made-up", allow, { approver: `a${index}` }).catch(() => undefined)
      )
      await Promise.all(attempts)
      // Whoever met the other process at the thread left the record in its inbox.
      await runtime.recover()
      expect((await refusals(store, today)).map(({ by }) => by).toSorted()).toEqual(
        Array.from({ length: 12 }, (_, index) => `a${index}`).toSorted()
      )
      expect((await runtime.verifyAudit({ threadId: today })).flaws).toEqual([])
      await other.close()
    }))

  it("[P8] a record that was accepted when the process died is committed by whoever recovers", () =>
    inWorld(world, async ({ runtime, elsewhere, start, store, clock }) => {
      const [ticket] = (await start()).tickets
      await runtime.cancel({ threadId: "t" })
      const dying = await elsewhere({
        owner: "dying",
        crashPoint: (met) => {
          if (met === "claimed") throw new Error("dies")
        }
      })
      await dying.resume(ticket?.id ?? "", allow, { approver: "eve" }).catch(() => undefined)
      expect(await refusals(store, "t")).toEqual([])
      clock.advance(60_000)
      expect((await runtime.recover()).map(({ threadId, why }) => [threadId, why])).toEqual([["t", "SignalUnread"]])
      expect((await refusals(store, "t")).map(({ by }) => by)).toEqual(["eve"])
    }))

  it("[P8] the runtime's own threads are in no list but their own, and nobody starts a run there", () =>
    inWorld(world, async ({ runtime, start, store }) => {
      const [ticket] = (await start()).tickets
      await runtime.resume(ticket?.id ?? "", allow, { approver: "bob", remember: { scope: "thread" } })
      const [grant] = await runtime.grants({ threadId: "t" })
      const grantId = grant?.id ?? ""
      await runtime.revokeGrant({ grantId, by: "bob" })
      await runtime.resume("made-up", allow, { approver: "eve" }).catch(() => undefined)
      const listed = async (system: boolean) =>
        (await Effect.runPromise(store.list({ system }))).map(({ threadId }) => threadId)
      expect(await listed(false)).toEqual(["t"])
      expect(await listed(true)).toEqual(["t", SystemThread.ofGrant(grantId), today])
      await expect(start({ threadId: "toolwright/mine" })).rejects.toMatchObject({
        reason: { _tag: "BadRequest", option: "threadId" }
      })
    }))
})
