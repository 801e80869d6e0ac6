// The chain can be checked without this library: a head is SHA-256 over plain JSON, and how its text is put together is not seen.
import { createHash } from "node:crypto"
import fc from "fast-check"
import { expect, it } from "vitest"
import { genesis, next } from "../src/AuditChain.js"
import { canonicalJson, type Json } from "../src/Json.js"
import type { AuditRecord } from "../src/ThreadCommit.js"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const text = fc.oneof(
  fc.constantFrom("", "Allow", "Deny", 'a "quoted" one', "back\\slash", "é", "\n", "a".repeat(64)),
  fc.string({ unit: "binary", maxLength: 12 }).map((any) => any.toWellFormed())
)
const maybe = fc.option(text, { nil: undefined })
const given = fc.record({
  type: fc.constantFrom("Decision" as const, "Answer" as const, "Refusal" as const),
  at: fc.oneof(fc.nat(), fc.constant(1_764_550_000_000.5)),
  outcome: text,
  by: text,
  operationId: maybe,
  toolId: maybe,
  digest: maybe,
  rule: maybe,
  detail: fc.option(fc.oneof(text, fc.constant({ b: 1, a: ["x"] }), fc.constant(null)), { nil: undefined })
})

/** What the members that are `undefined` stand for: that they are not there. */
const recordOf = (made: Readonly<Record<string, unknown>>): AuditRecord => {
  const members = Object.entries(made).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as unknown as AuditRecord
}

const asJson = ({ type, at, operationId, toolId, digest, outcome, rule, by, detail }: AuditRecord): string => {
  const shown: Json = detail === undefined ? null : canonicalJson(detail)
  return JSON.stringify([
    type,
    at,
    operationId ?? null,
    toolId ?? null,
    digest ?? null,
    outcome,
    rule ?? null,
    by,
    shown
  ])
}

it("[P8] the head behind any records is the hash of the one before and of their JSON, a line each", () => {
  fc.assert(
    fc.property(fc.array(given.map(recordOf), { maxLength: 60 }), fc.nat(60), (records, at) => {
      const before = genesis("thread")
      const expected = records.length === 0 ? before : sha256([before, ...records.map(asJson)].join("\n"))
      expect(next(before, records)).toBe(expected)
      expect(next(before, records.slice(0, at), records.slice(at))).toBe(expected)
    }),
    { numRuns: 1_000 }
  )
})
