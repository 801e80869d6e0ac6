import { PermissionGate } from "@toolwright/permissions"
import { SystemThread } from "@toolwright/runtime-contract"
import { FaultyStore, type StoreFault } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { call, inWorld, overBoth, type WorldOptions } from "./world.js"

const gate = PermissionGate.make({ ask: ["note"], workspace: "/work/place" })

const onceEach: WorldOptions["script"] = ({ messages }) =>
  messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("note")] }

/** Dies at one commit of the revocation, before or behind it: from then on nothing answers any more. */
interface Death {
  readonly commit: number
  readonly fault: Extract<StoreFault["_tag"], "crashBefore" | "crashAfter">
}

const deaths: ReadonlyArray<Death> = [0, 1].flatMap((commit) =>
  (["crashBefore", "crashAfter"] as const).map((fault) => ({ commit, fault }))
)

overBoth("a revocation survives the process that made it", (open) => {
  for (const { commit, fault } of deaths)
    it(`[H7] [R7] ${fault} of commit ${commit}: the grant is as it was or answers nothing, and revoking again finishes it`, () =>
      inWorld({ open, gate, script: onceEach }, async ({ runtime, start, elsewhere, store, clock, recorder }) => {
        const [ticket] = (await start()).tickets
        await runtime.resume(ticket?.id ?? "", { _tag: "Allow" }, { approver: "bob", remember: { scope: "workspace" } })
        const [grant] = await runtime.grants()
        const grantId = grant?.id ?? ""
        let seen = 0
        let isDead = false
        const failing = new FaultyStore(store, {
          plan: ({ operation }) => {
            if (isDead) return { _tag: "hang" }
            if (operation !== "commit" || seen++ !== commit) return undefined
            isDead = true
            return { _tag: fault }
          }
        })
        const dying = await elsewhere({ store: failing, owner: "dying", leaseTtl: 50, storeTimeout: 1e9 })
        void dying.revokeGrant({ grantId, by: "eve" }).catch(() => undefined)
        await whenDead(() => isDead)
        const isBegun = commit > 0 || fault === "crashAfter"
        expect((await runtime.grants()).length).toBe(isBegun ? 0 : 1)
        expect((await start()).disposition._tag).toBe(isBegun ? "Awaiting" : "Ended")
        clock.advance(100)
        await runtime.revokeGrant({ grantId, by: "eve" })
        await runtime.revokeGrant({ grantId, by: "eve" })
        expect(await runtime.grants()).toEqual([])
        expect((await start({ threadId: "u" })).disposition._tag).toBe("Awaiting")
        expect(recorder.effects.length).toBe(isBegun ? 1 : 2)
        const threadId = SystemThread.ofGrant(grantId)
        expect((await Effect.runPromise(store.load(threadId)))?.disposition?._tag).toBe("Ended")
        expect(await runtime.verifyAudit({ threadId })).toMatchObject({ records: 1, open: 0, flaws: [] })
        expect(await runtime.recover()).toEqual([])
      }))

  it("[H7] a revocation that was begun and forgotten is ended by whoever recovers", () =>
    inWorld({ open, gate, script: onceEach }, async ({ runtime, elsewhere, store, clock }) => {
      let commits = 0
      const failing = new FaultyStore(store, {
        plan: ({ operation }) => (operation === "commit" && ++commits > 1 ? { _tag: "hang" } : undefined)
      })
      const dying = await elsewhere({ store: failing, owner: "dying", leaseTtl: 50, storeTimeout: 1e9 })
      void dying.revokeGrant({ grantId: "g", by: "eve" }).catch(() => undefined)
      await whenDead(() => commits > 1)
      clock.advance(100)
      const threadId = SystemThread.ofGrant("g")
      expect(await runtime.recover()).toMatchObject([{ threadId, why: "LeaseExpired" }])
      expect(await runtime.recover()).toEqual([])
      expect((await runtime.verifyAudit({ threadId })).flaws).toEqual([])
    }))
})

const whenDead = async (isDead: () => boolean): Promise<void> => {
  while (!isDead()) await new Promise<void>((resolve) => setImmediate(resolve))
  // What it did last reaches the store.
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
