import { PermissionGate } from "@toolwright/permissions"
import { GateOutcome, type Json, type PermissionGate as Gates, ToolConcurrency } from "@toolwright/runtime-contract"
import type { ScriptedTurn } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { call, inWorld, overBoth, principal, type WorldOptions } from "./world.js"

const workspace = "/work/place"
const asks = PermissionGate.make({ ask: ["note"], allow: ["read"], workspace })
const row = {
  type: "object",
  properties: { id: { type: "string" }, key: { type: "string", secret: true } },
  additionalProperties: false
} as const satisfies Json.JsonObject

// C059, C061: each call of the list in a step of its own.
const inTurn = (...calls: ReadonlyArray<Json.JsonObject>): ReadonlyArray<ScriptedTurn> => [
  ...calls.map((args) => ({ calls: [call("note", args)] })),
  "Done."
]

/** Every run calls once and is done, however many runs there are. */
const onceEach: WorldOptions["script"] = ({ messages }) =>
  messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("note", { id: "a" })] }

overBoth("grants are remembered as shown", (open) => {
  const world = (options: Partial<WorldOptions>): WorldOptions => ({
    open,
    gate: asks,
    script: [],
    tools: (recorder) => [recorder.tool({ id: "note", inputSchema: row })],
    ...options
  })
  const bob = { approver: "bob" }
  const allow = { _tag: "Allow" } as const

  it("[H7] the rule is shown in full before it is stored, and covers exactly the call: the next other call is asked about", () =>
    inWorld(
      world({ script: inTurn({ id: "r1" }, { id: "r1" }, { id: "r2" }) }),
      async ({ runtime, start, recorder }) => {
        const [ticket] = (await start()).tickets
        const ticketId = ticket?.id ?? ""
        const shown = await runtime.previewGrant({ ticketId, scope: "thread" })
        expect(shown.text).toBe('note(= {"id":"r1"})')
        expect(await runtime.grants({ threadId: "t" })).toEqual([])
        await expect(
          runtime.resume(ticketId, allow, { ...bob, remember: { scope: "thread", shown: "note" } })
        ).rejects.toMatchObject({ reason: { _tag: "BadRequest" } })
        const next = await runtime.resume(ticketId, allow, { ...bob, remember: { scope: "thread", shown: shown.text } })
        expect(next.tickets.map(({ arguments: args }) => args)).toEqual([{ id: "r2" }])
        expect(recorder.effects.map(({ arguments: args }) => args)).toEqual([{ id: "r1" }, { id: "r1" }])
        expect(await runtime.grants({ threadId: "t" })).toMatchObject([{ ...shown, grantedBy: "bob", principal }])
        expect((await runtime.verifyAudit({ threadId: "t" })).flaws).toEqual([])
      }
    ))

  it("[H7] [P8] the grant, and each call that it answered for, are audit records", () =>
    inWorld(world({ script: inTurn({ id: "r1" }, { id: "r1" }) }), async ({ runtime, start, store }) => {
      const [ticket] = (await start()).tickets
      await runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "run" } })
      const facts = await Effect.runPromise(store.tail({ threadId: "t", from: 1 }))
      const records = facts.flatMap(({ fact }) => (fact.type === "Decided" ? [fact.record] : []))
      const [grant] = await runtime.grants({ threadId: "t" })
      expect(records.map(({ type, outcome, by }) => [type, outcome, by])).toEqual([
        ["Decision", "RequireConfirmation", "permissions"],
        ["Answer", "Allowed", "bob"],
        ["Grant", "Given", "bob"],
        ["Decision", "Allow", "permissions"]
      ])
      expect([records[2]?.rule, records[3]?.rule]).toEqual(['note(= {"id":"r1"})', `grant ${grant?.id}`])
    }))

  it("[H7] it is as wide as the approver wrote it, never for another tool, and a rule that misses the call is refused", () =>
    inWorld(
      world({ script: inTurn({ id: "r1" }, { id: "r22" }, { id: "x" }) }),
      async ({ runtime, start, recorder }) => {
        const [ticket] = (await start()).tickets
        const ticketId = ticket?.id ?? ""
        const refused = async (remember: object) =>
          runtime.previewGrant({ ticketId, scope: "run", ...remember }).then(
            () => "given",
            (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
          )
        expect(await refused({ rule: 'note(id ~ "x*")' })).toBe("BadRequest")
        expect(await refused({ rule: "*" })).toBe("BadRequest")
        expect(await refused({ rule: "read" })).toBe("BadRequest")
        expect(await refused({ expiresAt: 1 })).toBe("BadRequest")
        expect(await refused({ gate: "another" })).toBe("BadRequest")
        const wide = { scope: "run", rule: 'note(id ~ "r*")' } as const
        const end = await runtime.resume(ticketId, allow, { ...bob, remember: wide })
        expect(end.tickets.map(({ arguments: args }) => args)).toEqual([{ id: "x" }])
        expect(recorder.effects.length).toBe(2)
      }
    ))

  it("[H7] a run's grant ends with its run, a thread's holds there, and a workspace's holds in every thread of the principal", async () => {
    const reach = async (scope: "run" | "thread" | "workspace") => {
      const seen: Array<string> = []
      await inWorld(world({ script: onceEach }), async ({ runtime, start, elsewhere }) => {
        const [ticket] = (await start()).tickets
        await runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope } })
        seen.push((await start()).disposition._tag)
        if (seen[0] === "Awaiting") await runtime.cancel({ threadId: "t" })
        seen.push((await start({ threadId: "u" })).disposition._tag)
        seen.push((await start({ threadId: "v", principal: "mallory" })).disposition._tag)
        await (await elsewhere()).close()
      })
      return seen
    }
    expect(await reach("run")).toEqual(["Awaiting", "Awaiting", "Awaiting"])
    expect(await reach("thread")).toEqual(["Ended", "Awaiting", "Awaiting"])
    expect(await reach("workspace")).toEqual(["Ended", "Ended", "Awaiting"])
  })

  it("[H7] [H4] it is stored with the approval, by whoever acts on it, also when the process dies in between", () =>
    inWorld(
      world({ script: inTurn({ id: "a" }, { id: "a" }) }),
      async ({ runtime, start, elsewhere, clock, recorder }) => {
        const [ticket] = (await start()).tickets
        const dying = await elsewhere({
          owner: "dying",
          crashPoint: (met) => {
            if (met === "signal.accepted") throw new Error("dies")
          }
        })
        await dying.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "workspace" } }).catch(() => undefined)
        expect(await runtime.grants()).toEqual([])
        clock.advance(60_000)
        await runtime.recover()
        expect([(await runtime.grants()).length, recorder.effects.length]).toEqual([1, 2])
      }
    ))

  it("[H7] an answer that only counts towards a quorum remembers nothing", () =>
    inWorld(
      world({
        script: onceEach,
        plugins: [
          {
            manifest: { id: "p", bound: { gates: { _tag: "Any" } } },
            contributions: {
              gates: [
                {
                  id: "two",
                  decide: () => GateOutcome.requireConfirmation({ reason: "two eyes more", approvers: ["eve"] })
                }
              ]
            }
          }
        ],
        select: (builder) => builder.plugin("p")
      }),
      async ({ runtime, start }) => {
        const [ticket] = (await start()).tickets
        await expect(runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "run" } })).rejects.toThrow(
          "completes the quorum"
        )
        await runtime.resume(ticket?.id ?? "", allow, bob)
        expect(
          (await runtime.resume(ticket?.id ?? "", allow, { approver: "eve", remember: { scope: "run" } })).text
        ).toBe("Done.")
        expect(await runtime.grants({ threadId: "t" })).toMatchObject([{ gate: "permissions", grantedBy: "eve" }])
      }
    ))

  it("[H7] it expires by the runtime's clock", () =>
    inWorld(world({ script: inTurn({ id: "a" }).concat(inTurn({ id: "a" })) }), async ({ runtime, start, clock }) => {
      const [ticket] = (await start()).tickets
      await runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "workspace", expiresAt: 5_000 } })
      clock.advanceTo(5_000)
      expect((await start()).disposition._tag).toBe("Awaiting")
    }))

  it("[H7] it is listed and revoked, from any process, at once, and revoking again is no error", () =>
    inWorld(
      world({ script: inTurn({ id: "a" }).concat(inTurn({ id: "a" })) }),
      async ({ runtime, start, elsewhere }) => {
        const [ticket] = (await start()).tickets
        await runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "thread" } })
        const other = await elsewhere()
        const [grant] = await other.grants({ threadId: "t", principal })
        expect(await other.grants({ threadId: "t", principal: "eve" })).toEqual([])
        const grantId = grant?.id ?? ""
        await other.revokeGrant({ grantId, by: "eve" })
        await runtime.revokeGrant({ grantId, by: "eve" })
        expect(await runtime.grants({ threadId: "t" })).toEqual([])
        expect((await start()).disposition._tag).toBe("Awaiting")
        expect(await runtime.verifyAudit({ threadId: `toolwright/grants/${grantId}` })).toMatchObject({
          records: 1,
          flaws: []
        })
        expect((await runtime.recover()).length).toBe(0)
        await other.close()
      }
    ))

  it("[H7] it is looked up again before a call goes in: one that waited behind another does not outlive its grant", () =>
    inWorld(
      world({
        script: [{ calls: [call("note", { id: "a" })] }, { calls: [call("slow"), call("note", { id: "a" })] }, "Done."],
        gate: PermissionGate.make({ ask: ["note"], allow: ["slow"], workspace }),
        tools: (recorder) => [
          recorder.tool({ id: "slow", concurrency: ToolConcurrency.Serial }),
          recorder.tool({ id: "note", inputSchema: row, concurrency: ToolConcurrency.Serial })
        ]
      }),
      async ({ runtime, start, recorder }) => {
        const [ticket] = (await start()).tickets
        const release = recorder.hold("slow")
        const running = runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "thread" } })
        await recorder.whenEntered(2)
        const [grant] = await runtime.grants({ threadId: "t" })
        await runtime.revokeGrant({ grantId: grant?.id ?? "", by: "eve" })
        release()
        const end = await running
        expect(end.messages.at(-2)).toMatchObject({
          toolId: "note",
          outcome: "NotRun",
          content: [{ text: "note was denied: the approval that covered note no longer holds" }]
        })
        expect(recorder.effects.map(({ toolId }) => toolId)).toEqual(["note", "slow"])
      }
    ))

  it("[H7] [P4] it never beats a deny, answers only its own gate, and serves no quorum above one", async () => {
    const later: { outcome: GateOutcome.GateOutcome } = { outcome: GateOutcome.allow }
    const other: Gates.PermissionGate = { id: "other", decide: () => later.outcome }
    const host: WorldOptions = world({
      script: onceEach,
      plugins: [{ manifest: { id: "p", bound: { gates: { _tag: "Any" } } }, contributions: { gates: [other] } }],
      select: (builder) => builder.plugin("p")
    })
    await inWorld(host, async ({ runtime, start, recorder }) => {
      const [ticket] = (await start()).tickets
      await runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "workspace" } })
      later.outcome = GateOutcome.requireConfirmation({ reason: "mine as well" })
      const asked = await start()
      expect(asked.tickets[0]?.requirements.map(({ gate }) => gate)).toEqual(["other"])
      await runtime.cancel({ threadId: "t" })
      later.outcome = GateOutcome.block("never")
      expect((await start()).messages.at(-2)).toMatchObject({ outcome: "NotRun" })
      expect(recorder.effects.length).toBe(1)
    })
    const two = PermissionGate.fromPolicy({ rules: [{ pattern: "note", behavior: "ask", quorum: 2 }] }, { workspace })
    await inWorld(world({ gate: two, script: inTurn({ id: "a" }) }), async ({ runtime, start }) => {
      const [ticket] = (await start()).tickets
      await expect(
        runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "run" } })
      ).rejects.toMatchObject({ reason: { _tag: "BadRequest" } })
    })
    const self = PermissionGate.fromPolicy(
      { rules: [{ pattern: "note", behavior: "ask", approvers: ["bob"] }] },
      { workspace }
    )
    await inWorld(world({ gate: self, script: inTurn({ id: "a" }) }), async ({ runtime, start }) => {
      const [ticket] = (await start()).tickets
      await expect(
        runtime.resume(ticket?.id ?? "", allow, { approver: "eve", remember: { scope: "run" } })
      ).rejects.toMatchObject({ _tag: "TicketRefused", reason: "NotEligible" })
      await expect(
        runtime.resume(ticket?.id ?? "", { _tag: "Deny" }, { ...bob, remember: { scope: "run" } })
      ).rejects.toMatchObject({ reason: { _tag: "BadRequest" } })
    })
  })

  it("[H7] [H1] [H8] secrets and invisible characters are hidden or made visible in the stored rule", () =>
    inWorld(world({ script: inTurn({ id: "r\u202e1", key: "s3cret" }) }), async ({ runtime, start }) => {
      const [ticket] = (await start()).tickets
      const shown = await runtime.previewGrant({ ticketId: ticket?.id ?? "", scope: "run" })
      expect(shown.text).not.toContain("s3cret")
      expect(shown.text).not.toContain("\u202e")
    }))

  it("[R12] no grant covers a repeat of a call whose outcome is unknown", () =>
    inWorld(
      world({
        script: [
          { calls: [call("note", { id: "a" })] },
          { calls: [call("note", { id: "a" })] },
          { calls: [call("note", { id: "a" })] },
          "Done."
        ],
        tools: (recorder) => [recorder.tool({ id: "note", inputSchema: row })],
        select: (builder) => builder.limits({ toolTimeout: 100, grace: 10 })
      }),
      async ({ runtime, start, recorder, clock }) => {
        const [ticket] = (await start()).tickets
        recorder.hold("note")
        const running = runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "workspace" } })
        await recorder.whenEntered(1)
        clock.advance(100)
        clock.advance(10)
        const asked = await running
        expect(asked.disposition._tag).toBe("Awaiting")
        expect(asked.tickets[0]?.requirements.map(({ gate }) => gate)).toEqual(["runtime"])
      }
    ))
})
