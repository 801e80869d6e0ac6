import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { digestOf } from "../src/ToolBatch.js"
import * as ToolOperation from "../src/ToolOperation.js"

describe("operation ids", () => {
  it("[R2] the id is run, durable step and position, and never two operations share one", () => {
    expect(ToolOperation.idOf("run", 3, 2)).toBe("run/3/2")
    const place = fc.tuple(fc.nat(200), fc.nat(200))
    fc.assert(
      fc.property(place, place, ([step, position], [otherStep, otherPosition]) => {
        const isSame = step === otherStep && position === otherPosition
        expect(ToolOperation.idOf("run", step, position) === ToolOperation.idOf("run", otherStep, otherPosition)).toBe(
          isSame
        )
      })
    )
  })

  it("[R1] outside the runtime there is no current operation", () => {
    expect(Effect.runSync(Effect.service(ToolOperation.current))).toBeUndefined()
  })

  it("[R3] the ledger id comes from scope, run and operation, whatever the attempt", () => {
    const token = ToolOperation.tokenOf({ runId: "run", operationId: "run/1/0" })
    const others = [
      token.ledgerId("bank"),
      ToolOperation.tokenOf({ runId: "run", operationId: "run/1/1" }).ledgerId(),
      ToolOperation.tokenOf({ runId: "run2", operationId: "run/1/0" }).ledgerId(),
      token.ledgerId()
    ]
    expect(token.ledgerId()).toMatch(/^[0-9a-f]{64}$/)
    expect(token.ledgerId()).toBe(token.ledgerId(""))
    expect(new Set(others).size).toBe(4)
  })

  it("[H1] a digest of arguments does not depend on the order of keys", () => {
    expect(digestOf({ a: 1, b: { c: 2, d: 3 } })).toBe(digestOf({ b: { d: 3, c: 2 }, a: 1 }))
  })

  it("[H1] arguments that differ have digests that differ", () => {
    // C061
    const pairs = [
      [{ a: true }, { a: 1 }],
      [{ a: 5 }, { a: "5" }],
      [{ a: [1, 2] }, { a: [2, 1] }],
      [{}, { a: null }],
      [{ a: "e\u0301" }, { a: "\u00e9" }],
      [{ __proto__x: 1 }, {}]
    ] as const
    for (const [left, right] of pairs) expect(digestOf(left)).not.toBe(digestOf(right))
  })
})
