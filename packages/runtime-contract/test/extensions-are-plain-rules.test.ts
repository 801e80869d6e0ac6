import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ContextMessages from "../src/ContextMessages.js"
import * as Grant from "../src/Grant.js"
import type { Json } from "../src/Json.js"
import * as Plugin from "../src/Plugin.js"

const grant: Grant.Grant = {
  version: 1,
  id: "g",
  gate: "asks",
  toolId: "note",
  toolIdentity: "i",
  principal: "ada",
  scope: { _tag: "Thread", threadId: "t" },
  match: { _tag: "Exact", digest: "d" },
  text: "note",
  grantedBy: "bob",
  grantedAt: 1
}

const stored = (value: object) => JSON.parse(JSON.stringify(value)) as Json

describe("extensions are plain rules", () => {
  it("[L6] an absent bound denies all, and a namespace holds only what begins with it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (id, prefix) => {
        expect(Plugin.admits(undefined, id)).toBe(false)
        expect(Plugin.admits(Plugin.none, id)).toBe(false)
        expect(Plugin.admits(Plugin.any, id)).toBe(true)
        expect(Plugin.admits(Plugin.exactly(prefix), id)).toBe(id === prefix)
        expect(Plugin.admits(Plugin.namespace(prefix), id)).toBe(prefix.trim() !== "" && id.startsWith(prefix))
      })
    )
  })

  it("[L5] sources of request context do not overwrite one another, and an empty entry takes its own back", () => {
    const combine = ContextMessages.key.combine ?? (() => ({}))
    const set = (source: string, ...texts: ReadonlyArray<string>) => ({ [source]: texts })
    const both = combine(combine({}, set("a", "one")), set("b", "two"))
    expect(both).toEqual({ a: ["one"], b: ["two"] })
    expect(combine(combine(both, set("a", "three")), set("b"))).toEqual({ a: ["three"] })
    expect(ContextMessages.read({ a: ["one"], b: "damaged" })).toEqual([{ source: "a", texts: ["one"] }])
  })

  it("[H7] a grant serves one approver's requirement of its own gate, and only where its giver could have met it alone", () => {
    const asked = { gate: "asks", reason: "?" }
    expect(Grant.mayAnswer(grant, asked)).toBe(true)
    expect(Grant.mayAnswer(grant, { ...asked, gate: "other" })).toBe(false)
    expect(Grant.mayAnswer(grant, { reason: "?" })).toBe(false)
    expect(Grant.mayAnswer(grant, { ...asked, quorum: 2 })).toBe(false)
    expect(Grant.mayAnswer(grant, { ...asked, approvers: ["eve"] })).toBe(false)
    expect(Grant.mayAnswer({ ...grant, grantedBy: "ada" }, { ...asked, requesterMayAnswer: false })).toBe(false)
  })

  it("[R11] stored grants that cannot be read are an error, never skipped; revoked ones are told apart", () => {
    expect(Grant.readAll(undefined)).toEqual({ grants: [], revoked: [] })
    expect(Grant.readAll(stored({ g: grant, h: null }))).toEqual({
      grants: [grant],
      revoked: ["h"]
    })
    for (const damage of [
      { ...grant, version: 2 },
      { ...grant, scope: { _tag: "Everywhere" } },
      { ...grant, match: { _tag: "Exact" } },
      { ...grant, expiresAt: "soon" },
      7
    ])
      expect(() => Grant.readAll(stored({ g: damage }))).toThrow("cannot be read")
    expect(() => Grant.readAll([])).toThrow("no object")
  })
})
