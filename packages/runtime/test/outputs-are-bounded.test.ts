import { MemorySpill } from "@toolwright/runtime-contract/memory"
import { GateOutcome, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf, text } from "./support/world.js"

const principal = "ada"
const limits = { maxResultCharacters: 256 }

const runOne = async (answer: Parameters<typeof rawTool>[1], more: object = {}) => {
  const tool = rawTool({ id: "big" }, answer)
  const world = makeWorld({ script: [{ calls: [call("big")] }, "Done."], tools: () => [tool], ...more })
  const outcome = await world.runtime.run({
    snapshot: snapshotOf([tool], (builder) => builder.limits(limits)),
    input: "hi",
    principal
  })
  const message = outcome.messages.at(2)
  const shown =
    message?.role === "tool" ? ToolOutput.text({ callId: "", content: message.content, isError: false, state: [] }) : ""
  return { ...world, outcome, message, shown }
}

describe("outputs are bounded", () => {
  it("[T10] C046 a long text is cut at the limit with a note, and the whole is kept once under the operation", async () => {
    const spill = new MemorySpill()
    const full = "x".repeat(5_000)
    const { shown, watched, outcome } = await runOne(text(full), { spill })
    expect(shown.length).toBeLessThanOrEqual(limits.maxResultCharacters)
    expect(shown).toContain("[cut: 5000 characters in all; the whole text is kept as spill:")
    const reference = `spill:${outcome.runId}/1/0`
    expect(await Effect.runPromise(spill.get(reference))).toBe(full)
    expect(watched.commits.flatMap((commit) => commit.notes)).toMatchObject([
      { type: "OutputSpilled", reference, characters: 5_000 }
    ])
    expect(JSON.stringify(watched.commits).length).toBeLessThan(20_000)
  })

  it("[T10] a cut never ends in half a character", async () => {
    const { shown } = await runOne(text("\ud83d\ude00".repeat(500)))
    expect(shown.isWellFormed()).toBe(true)
    expect(shown).toContain("the rest was not kept")
  })

  it("[T10] a text within the limit is left alone, and images do not count", async () => {
    const image = { type: "image", mediaType: "image/png", data: "A".repeat(10_000) } as const
    const { message } = await runOne(({ callId }) =>
      ToolOutput.okBlocks(callId, [{ type: "text", text: "a picture" }, image])
    )
    expect(message).toMatchObject({ content: [{ type: "text", text: "a picture" }, image] })
  })

  it("[T10] structured data that is too long is not stored beside its text", async () => {
    const { message } = await runOne(({ callId }) => ToolOutput.ok(callId, "short", { rows: "y".repeat(1_000) }))
    expect(message).not.toHaveProperty("data")
  })

  it("[T10] redaction runs before anything is committed, and one that fails makes the output unreadable", async () => {
    const redact = (output: ToolOutput.ToolOutput) => ({
      ...output,
      content: output.content.map((block) =>
        block.type === "text" ? { ...block, text: block.text.replace("secret", "***") } : block
      )
    })
    const redacted = await runOne(text("a secret"), { redact })
    expect([redacted.shown, JSON.stringify(redacted.watched.commits).includes("a secret")]).toEqual(["a ***", false])
    const broken = await runOne(text("a secret"), {
      redact: () => {
        throw new Error("no")
      }
    })
    expect(broken.shown).toContain("its output could not be read")
    expect(broken.message).toMatchObject({ outcome: "Completed" })
  })

  it("[T10] what a gate sets instead of a result is held to the same limits", async () => {
    const gate = { id: "sets", decide: () => GateOutcome.setResult(ToolOutput.ok("", "x".repeat(5_000))) }
    const { shown, message } = await runOne(text("never"), { gate })
    expect(shown.length).toBeLessThanOrEqual(limits.maxResultCharacters)
    expect(message).toMatchObject({ outcome: "Completed", isError: false })
  })

  it("[T10] a spill that fails costs the rest of the text, not the call", async () => {
    const spill = { put: () => Effect.fail(new Error("full") as never), get: () => Effect.succeed(undefined) }
    const { shown, message } = await runOne(text("x".repeat(5_000)), { spill })
    expect(shown).toContain("the rest was not kept")
    expect(message).toMatchObject({ outcome: "Completed", isError: false })
  })

  it("[T9] C038 an output without content says so, and lone surrogates become U+FFFD", async () => {
    expect((await runOne(({ callId }) => ToolOutput.okBlocks(callId, []))).shown).toBe("(no output)")
    expect((await runOne(text("half \ud83d"))).shown).toBe("half \ufffd")
  })
})
