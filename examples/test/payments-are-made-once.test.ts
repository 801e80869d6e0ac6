import { erase } from "@toolwright/builtin-tools"
import { type RawTool, ToolArgs, type ToolOperation, ToolOutput } from "@toolwright/runtime-contract"
import { MemoryEffectLedger } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { payInvoice, type PaymentProvider } from "../payment.js"

/** Receipts that the provider has given, by key. */
let charged: Map<string, string>
let ledger: MemoryEffectLedger
beforeEach(() => {
  charged = new Map()
  ledger = new MemoryEffectLedger()
})

/** `dies`: the process dies before the provider is reached, or before its answer is. */
const provider = (dies?: "before" | "after"): PaymentProvider => ({
  charge: ({ cents, key }) => {
    if (dies === "before") return never
    charged.set(key, `receipt ${charged.size + 1} over ${cents}`)
    return dies === "after" ? never : Promise.resolve(charged.get(key) ?? "")
  },
  find: (key) => Promise.resolve(charged.get(key))
})

/** The answer to a process that is dead. */
const never = new Promise<string>(() => {})

const operationOf = (attempt: number): ToolOperation.ToolOperation => ({
  runId: "run",
  threadId: "thread",
  operationId: "run/1/0",
  callId: "call-1",
  attempt,
  epoch: attempt,
  principal: "ada",
  state: { get: () => undefined }
})

/** One attempt, as the runtime makes it. */
const attempt = async (number: number, by: PaymentProvider, cents = 1_200): Promise<string> => {
  const tool = erase(payInvoice(by, ledger))
  const parsed = ToolArgs.parseToolArgs(tool.spec(), { invoice: "2026-07", cents })
  if (!parsed.ok) throw parsed.error
  const call: RawTool.ToolCall = { callId: "call-1", toolId: "pay_invoice", arguments: parsed.value }
  const context = { signal: new AbortController().signal, operation: operationOf(number), progress: () => {} }
  const returned = tool.invoke(call, context)
  const output = await (Effect.isEffect(returned) ? Effect.runPromise(returned) : returned)
  return ToolOutput.text(output)
}

/** An attempt whose process dies: it never comes back, and nobody waits for it. */
const dyingAttempt = (by: PaymentProvider): Promise<void> => {
  void attempt(1, by)
  return new Promise((resolve) => setImmediate(resolve))
}

describe("a payment", () => {
  it("[R3] is made once when everything goes well, and a repeat gives its receipt", async () => {
    const texts = [await attempt(1, provider()), await attempt(2, provider())]
    const receipt = `{"receipt":"receipt 1 over 1200"}`
    expect([texts, charged.size]).toEqual([[receipt, receipt], 1])
  })

  it("[R3] is not made again when the process died behind it", async () => {
    await dyingAttempt(provider("after"))
    expect([charged.size, await attempt(2, provider()), charged.size]).toEqual([
      1,
      `{"receipt":"receipt 1 over 1200"}`,
      1
    ])
  })

  it("[R3] is made by the next attempt when the process died before it", async () => {
    await dyingAttempt(provider("before"))
    expect([charged.size, await attempt(2, provider()), charged.size]).toEqual([
      0,
      `{"receipt":"receipt 1 over 1200"}`,
      1
    ])
  })

  it("[R2, R3] is refused when the same operation suddenly means something else", async () => {
    await attempt(1, provider())
    await expect(attempt(2, provider(), 9_900)).rejects.toThrow("the operation was begun with other arguments")
    expect(charged.size).toBe(1)
  })
})
