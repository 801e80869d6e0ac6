// A thousand runs that are started in one turn do not stand before those that are under way, and none of them is left behind.
import type { LlmExecutor } from "@toolwright/runtime-contract"
import { PermissionGate } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Runtime } from "../src/index.js"
import { Admission } from "../src/internal/admission.js"
import { settle, snapshotOf } from "./support/world.js"

const snapshot = snapshotOf([])
const ended = { _tag: "Ended", cause: { _tag: "NaturalEnd" } }

/** Watches which runs ask the model, and lets a test hold them there. */
class Model implements LlmExecutor.LlmExecutor {
  readonly asked: Array<string> = []
  underWay = 0
  most = 0
  readonly #held: Array<() => void> = []
  readonly #isHeld: (prompt: string) => boolean
  constructor(isHeld: (prompt: string) => boolean = () => false) {
    this.#isHeld = isHeld
  }
  async *stream(request: LlmExecutor.LlmRequest): AsyncGenerator<LlmExecutor.LlmEvent> {
    const [first] = request.messages
    const [block] = first?.role === "user" ? first.content : []
    const prompt = block?.type === "text" ? block.text : ""
    this.asked.push(prompt)
    this.most = Math.max(this.most, ++this.underWay)
    if (this.#isHeld(prompt)) await new Promise<void>((resolve) => this.#held.push(resolve))
    yield { type: "text", text: "done" }
    yield { type: "finish", stop: "endTurn" }
    this.underWay--
  }
  letGo(): void {
    for (const resolve of this.#held.splice(0)) resolve()
  }
}

const start = (llm: LlmExecutor.LlmExecutor) => {
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [], store: new MemoryThreadStore() })
  return {
    runtime,
    run: (prompt: string) => runtime.run({ snapshot, input: prompt, principal: "ada", threadId: `thread-${prompt}` })
  }
}

const numbered = (count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, index) => String(index))

describe("a burst of runs", () => {
  it("[L1] all of them end, asked in the order in which they came, and only a few are under way at once", async () => {
    const model = new Model()
    const { run } = start(model)
    const outcomes = await Promise.all(numbered(1_000).map(run))
    expect(outcomes.map((outcome) => outcome.disposition)).toEqual(numbered(1_000).map(() => ended))
    expect(model.asked).toEqual(numbered(1_000))
    expect(model.most).toBeLessThanOrEqual(32)
  })

  it("[L1] runs that wait for the world outside are no limit for the others", async () => {
    const model = new Model((prompt) => prompt !== "last")
    const { run } = start(model)
    const held = numbered(500).map(run)
    await run("last")
    expect(model.underWay).toBe(500)
    model.letGo()
    await Promise.all(held)
    expect(model.underWay).toBe(0)
  })

  it("[L1] one that has not begun yet can be cancelled, and no model is asked for it", async () => {
    const model = new Model()
    const { run } = start(model)
    const running = numbered(100).map(run)
    running[99]?.cancel()
    const outcomes = await Promise.all(running)
    expect(outcomes[99]?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect(model.asked).toEqual(numbered(99))
  })

  it("[L8] closing waits for those that have not begun yet, and starts none of them", async () => {
    const model = new Model()
    const { runtime, run } = start(model)
    const told = numbered(100).map(async (prompt) => {
      try {
        return (await run(prompt)).disposition._tag
      } catch (error) {
        return error instanceof Error && "reason" in error ? error.reason : error
      }
    })
    await runtime.close()
    expect(model.asked).toEqual([])
    expect(await Promise.all(told)).toEqual(numbered(100).map(() => ({ _tag: "Closed" })))
  })
})

describe("where timers are replaced", () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it("[L1] a burst begins all the same", async () => {
    vi.useFakeTimers()
    const model = new Model((prompt) => Number(prompt) < 99)
    const { run } = start(model)
    const running = numbered(100).map(run)
    await running[99]
    model.letGo()
    await Promise.all(running)
    expect(model.asked).toEqual(numbered(100))
  })
})

describe("admission", () => {
  it("[L1] whatever ends and whatever stays, each begins once and in order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 300 }), async (ends) => {
        const admission = new Admission()
        const begun: Array<number> = []
        for (const [index, isOver] of ends.entries())
          admission.admit(() => {
            begun.push(index)
            if (isOver) queueMicrotask(() => admission.leave())
          })
        await settle()
        expect(begun).toEqual(ends.map((_, index) => index))
      }),
      { numRuns: 50 }
    )
  })
})
