import { Message } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { ScriptedLlm } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { secretary } from "../approval.js"
import { ask as askInEffect } from "../effect-tool.js"
import { ask } from "../first-run.js"

const station = (city: string): Promise<number | undefined> => Promise.resolve(city === "Lisbon" ? 16 : undefined)

const results = (outcome: { readonly messages: Iterable<Message.Message> }): ReadonlyArray<string> =>
  [...outcome.messages].flatMap((message) => (message.role === "tool" ? [Message.textOf(message.content)] : []))

describe("the examples of the README", () => {
  it("[T2] the first tool runs without a word of Effect", async () => {
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisboa" } }] },
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "It is 16 °C in Lisbon."
    ])
    const outcome = await ask(llm, station)
    expect(outcome.text).toBe("It is 16 °C in Lisbon.")
    expect(results(outcome)).toEqual([
      'Invalid arguments for get_weather.\n- /city: expected a city with a weather station, received "Lisboa"',
      '{"city":"Lisbon","celsius":16}'
    ])
    llm.assertDone()
  })

  it("[T2] the Effect form gets its services from layers", async () => {
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "It is 16 °C in Lisbon."
    ])
    const text = await askInEffect(llm, { celsius: () => Effect.succeed(16) })
    expect(text).toBe("It is 16 °C in Lisbon.")
    llm.assertDone()
  })

  it.each([
    [true, [{ to: "bob", text: "We are late." }]],
    [false, []]
  ])("[H4] a mail is sent only if the person allows it: %s", async (isAllowed, sent) => {
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "send_mail", arguments: { to: "bob", text: "We are late." } }] },
      "Done."
    ])
    const mails: Array<unknown> = []
    const asked: Array<unknown> = []
    const outcome = await secretary({
      llm,
      store: new MemoryThreadStore(),
      send: (mail) => {
        mails.push(mail)
        return Promise.resolve()
      },
      show: (ticket) => {
        asked.push(ticket.arguments)
        return Promise.resolve(isAllowed)
      }
    })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(asked).toEqual([{ to: "bob", text: "We are late." }])
    expect(mails).toEqual(sent)
  })
})
