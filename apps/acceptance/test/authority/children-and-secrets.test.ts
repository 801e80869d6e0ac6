import { PermissionGate } from "@toolwright/permissions"
import { ApprovalText } from "@toolwright/permissions"
import { Delegation } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, type Json, ToolDescriptor } from "@toolwright/runtime-contract"
import { EffectRecorder } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { call, inWorld, overBoth, principal, type World, type WorldOptions } from "./world.js"

const allow = { _tag: "Allow" } as const
const bob = { approver: "bob" }
const noteSchema = {
  type: "object",
  properties: { text: { type: "string" }, key: { type: "string", secret: true } },
  additionalProperties: false
} as const satisfies Json.JsonObject

/** Agents that lie `depth` deep: each hands on to the next, and the innermost sends the note. */
const family = (depth: number) => {
  const recorder = new EffectRecorder()
  const note = recorder.tool({ id: "send_note", inputSchema: noteSchema })
  const agent = (name: string, tool: typeof note) =>
    ExecutableAgentSnapshot.builder(name)
      .instructions(name)
      .model({ provider: "scripted", model: "one" })
      .tool(ToolDescriptor.forTool(tool, "test:tools"))
      .build()
  const tools = [note]
  let tool = note
  for (let level = depth; level > 0; level--) {
    tool = Delegation.tool({ id: `helper_${level}`, description: "helps", snapshot: agent(`agent ${level}`, tool) })
    tools.push(tool)
  }
  return { recorder, tools, top: agent("agent 0", tool), alone: agent("agent 1", note) }
}

const script =
  (depth: number): WorldOptions["script"] =>
  ({ instructions, messages }) => {
    const level = Number(instructions.replace("agent ", ""))
    const last = messages.at(-1)
    if (last?.role === "tool") return `${instructions} heard ${last.outcome}`
    return {
      calls: [
        level === depth
          ? call("send_note", { text: "hi", key: "s3cret" })
          : call(`helper_${level + 1}`, { input: "please" })
      ]
    }
  }

overBoth("children and secrets", (open) => {
  const inFamily = (depth: number, test: (world: World, given: ReturnType<typeof family>) => Promise<void>) => {
    const given = family(depth)
    const gate = PermissionGate.make({
      ask: ["send_note"],
      allow: ["helper_*"],
      deny: ["forbidden"],
      workspace: "/work/place"
    })
    return inWorld({ open, gate, script: script(depth), tools: () => given.tools }, (world) => test(world, given))
  }

  // C050
  it("[L9] at each depth the outer run waits under exactly one ticket that names the leaf call, and finishes when it is answered elsewhere", async () => {
    for (const depth of [1, 2, 3])
      for (const answer of [allow, { _tag: "Deny", reason: "no" }] as const)
        await inFamily(depth, async (world, { recorder, top }) => {
          const outcome = await world.start({ snapshot: top })
          expect(outcome.tickets.map(({ toolId, arguments: args }) => [toolId, args])).toEqual([
            ["send_note", { text: "hi", key: "s3cret" }]
          ])
          const [ticket] = outcome.tickets
          const leaf = await Effect.runPromise(world.store.load(ticket?.threadId ?? ""))
          expect([leaf?.snapshot?.agentId, ticket?.principal]).toEqual([`agent ${depth}`, principal])
          const other = await world.elsewhere()
          const end = await other.resume(ticket?.id ?? "", answer, bob)
          expect([end.threadId, end.disposition]).toEqual(["t", { _tag: "Ended", cause: { _tag: "NaturalEnd" } }])
          expect(recorder.effects.length).toBe(answer._tag === "Allow" ? 1 : 0)
          expect(await other.recover()).toEqual([])
          await other.close()
        })
  })

  // C086
  it("[L9] [H7] a child has no grants of its own, and none of its parent's", () =>
    inFamily(1, async (world, { top, alone }) => {
      const leafFirst = await world.start({ snapshot: alone })
      await world.runtime.resume(leafFirst.tickets[0]?.id ?? "", allow, { ...bob, remember: { scope: "workspace" } })
      expect((await world.runtime.grants()).length).toBe(1)
      const [ticket] = (await world.start({ snapshot: top })).tickets
      expect(ticket?.toolId).toBe("send_note")
      await expect(
        world.runtime.resume(ticket?.id ?? "", allow, { ...bob, remember: { scope: "workspace" } })
      ).rejects.toMatchObject({ reason: { _tag: "BadRequest" } })
    }))

  it("[H1] [H8] a secret is hidden in audit records, the stored grant and what an approver is shown", () =>
    inFamily(0, async (world, { top }) => {
      const [ticket] = (await world.start({ snapshot: top })).tickets
      if (ticket === undefined) throw new Error("no ticket")
      expect(ApprovalText.showArguments(ticket.arguments, noteSchema)).not.toContain("s3cret")
      await world.runtime.resume(ticket.id, allow, { ...bob, remember: { scope: "thread" } })
      const facts = await Effect.runPromise(world.store.tail({ threadId: "t", from: 1 }))
      const audited = facts.filter(({ fact }) => fact.type === "Decided")
      expect(audited.length).toBe(3)
      expect(JSON.stringify([audited, await world.runtime.grants({ threadId: "t" })])).not.toContain("s3cret")
    }))
})
