import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { type Json, type Message, Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { call, inWorld, overBoth, type WorldOptions } from "./world.js"

const Ask = Tool.define({
  id: "ask",
  description: "Asks the user",
  args: Type.Object({}),
  output: Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]),
  kind: "ClientExecuted"
})

const gate = PermissionGate.make({ allow: ["ask"], workspace: "/work/place" })
const bob = { approver: "bob" }

/** False, zero, empty text and null, with or without words of the client, and what the model reads of each. */
const answers: ReadonlyArray<readonly [data: Json.Json, content: ReadonlyArray<Message.ContentBlock>, read: string]> = [
  [false, [{ type: "text", text: "no" }], "no"],
  [false, [], "false"],
  [0, [], "0"],
  ["", [{ type: "text", text: "" }], "(empty text)"],
  [null, [], "null"]
]

overBoth("an answer that says nothing is an answer", (open) => {
  const world = (script: WorldOptions["script"]): WorldOptions => ({
    open,
    gate,
    script,
    tools: () => [erase(Ask)]
  })

  // C056
  it("[T16] [H2] [T9] false, zero, empty text and null reach the run unchanged and clear the wait; only an absent one keeps it", () =>
    inWorld(world([...answers.map(() => ({ calls: [call("ask")] })), "Done."]), async ({ runtime, start, store }) => {
      let [ticket] = (await start()).tickets
      for (const [data, content, text] of answers) {
        const ticketId = ticket?.id ?? ""
        await expect(runtime.resume(ticketId, { _tag: "ToolResult", content }, bob)).rejects.toMatchObject({
          _tag: "TicketRefused",
          reason: "InvalidArguments"
        })
        expect((await Effect.runPromise(store.ticket(ticketId)))?.decision).toBeUndefined()
        const outcome = await runtime.resume(ticketId, { _tag: "ToolResult", content, data }, bob)
        expect((await Effect.runPromise(store.ticket(ticketId)))?.decision).toMatchObject({
          _tag: "Answered",
          answer: { data }
        })
        const results = [...outcome.messages].filter(({ role }) => role === "tool")
        expect(results.at(-1)).toMatchObject({
          outcome: "Completed",
          isError: false,
          foreign: true,
          data,
          content: [{ text }]
        })
        ;[ticket] = outcome.tickets
      }
      expect(ticket).toBeUndefined()
      const view = await Effect.runPromise(store.load("t"))
      expect(view?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
      const kept = [...(view?.messages ?? [])].flatMap((message) => (message.role === "tool" ? [message.data] : []))
      expect(kept).toEqual(answers.map(([data]) => data))
      expect((await runtime.verifyAudit({ threadId: "t" })).flaws).toEqual([])
    }))

  // C056
  it("[L8] [H2] a paused run goes on when its input is an empty text", () =>
    inWorld(world([{ calls: [call("ask")] }, "Done."]), async ({ runtime, start }) => {
      const [asked] = (await start()).tickets
      await runtime.pause({ threadId: "t" })
      const paused = await runtime.resume(asked?.id ?? "", { _tag: "ToolResult", content: [], data: null }, bob)
      expect(paused.tickets.map(({ kind }) => kind)).toEqual(["Pause"])
      const end = await runtime.resume(paused.tickets[0]?.id ?? "", { _tag: "Input", text: "" }, bob)
      expect([end.text, end.messages.at(-2)]).toMatchObject(["Done.", { role: "user" }])
    }))
})
