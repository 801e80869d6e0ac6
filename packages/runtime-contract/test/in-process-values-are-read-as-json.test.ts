/** A JavaScript value handed in by a caller is read like its JSON text, and nothing of it runs, changes or slips through. */
import { Type } from "typebox"
import fc from "fast-check"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import { digestOf } from "../src/ToolBatch.js"
import { parseToolArgs } from "../src/ToolArgs.js"
import { closeArgs } from "../src/ToolSchema.js"

const anything = { id: "any", inputSchema: { type: "object" } } as const

const firstIssue = (raw: unknown): unknown => {
  const parsed = parseToolArgs(anything, raw)
  return parsed.ok ? parsed.value : parsed.error.reason._tag === "InvalidArguments" && parsed.error.reason.issues[0]
}

const sparse = (): unknown[] => {
  const items: unknown[] = [1]
  items[2] = 3
  return items
}
const cyclic = (): object => {
  const one: Record<string, unknown> = {}
  one["self"] = { one }
  return one
}
class Money {
  readonly amount = 3
}

describe("values that are no JSON", () => {
  it.each([
    // C014
    ["NaN", { k: Number.NaN }, { pointer: "/k", expected: "a finite number", received: "NaN" }],
    ["Infinity", { k: [Infinity] }, { pointer: "/k/0", expected: "a finite number", received: "Infinity" }],
    ["undefined", { k: undefined }, { pointer: "/k", received: "undefined", fix: "omit the key" }],
    ["a bigint", { k: 1n }, { pointer: "/k", received: "a bigint" }],
    ["a function", { k: () => 1 }, { pointer: "/k", received: "a function" }],
    ["a symbol", { k: Symbol("s") }, { pointer: "/k", received: "a symbol" }],
    ["a symbol key", { [Symbol("s")]: 1 }, { pointer: "", received: "a symbol as key" }],
    ["a Date", { k: new Date(0) }, { pointer: "/k", received: "a Date" }],
    ["a Date as the root", new Date(0), { pointer: "", received: "a Date" }],
    ["a Map", { k: new Map() }, { pointer: "/k", received: "a Map" }],
    ["a Set", { k: new Set() }, { pointer: "/k", received: "a Set" }],
    ["bytes", { k: new Uint8Array(2) }, { pointer: "/k", received: "binary data" }],
    ["a boxed string", { k: Object("text") as unknown }, { pointer: "/k", received: "a boxed primitive" }],
    ["a class instance", { k: new Money() }, { pointer: "/k", received: "an instance of a class" }],
    ["an array with a name", { k: Object.assign([1], { name: "x" }) }, { pointer: "/k", received: "one with them" }],
    ["a hole", { k: sparse() }, { pointer: "/k", received: "one with them" }],
    ["a cycle", cyclic(), { pointer: "/self/one", received: "a cycle" }],
    ["a lone surrogate", { k: "a\ud800" }, { pointer: "/k", expected: "well-formed Unicode text" }],
    ["a hidden member", Object.defineProperty({}, "k", { value: 1 }), { pointer: "/k", received: "a hidden one" }],
    [
      "an array as the root",
      [1],
      { pointer: "", expected: "a JSON object at the root", received: "an array of 1 item" }
    ],
    ["a number as the root", 7, { pointer: "", expected: "a JSON object at the root", received: "7" }]
  ])("[T4] %s is refused at its place", (_, raw, issue) => {
    expect(firstIssue(raw)).toMatchObject(issue)
  })

  it("[T4] no getter, toJSON or proxy trap is run", () => {
    let ran = 0
    const run = (): never => {
      ran++
      throw new Error("ran")
    }
    const traps = new Proxy(
      {},
      { get: run, ownKeys: run, getPrototypeOf: run, getOwnPropertyDescriptor: run, has: run }
    )
    const revocable = Proxy.revocable({}, {})
    revocable.revoke()
    const issues = [
      {
        get k() {
          return run()
        }
      },
      Object.defineProperty([1], 0, { get: run, enumerable: true, configurable: true }),
      { toJSON: run },
      traps,
      { k: traps },
      Object.create(traps) as object,
      revocable.proxy
    ].map(firstIssue)
    expect(issues).toMatchObject([
      { pointer: "/k", received: "a getter" },
      { pointer: "/0", received: "a getter" },
      { pointer: "/toJSON", received: "a function" },
      { pointer: "", received: "a proxy" },
      { pointer: "/k", received: "a proxy" },
      { pointer: "", received: "an instance of a class" },
      { pointer: "", received: "a proxy" }
    ])
    expect(ran).toBe(0)
  })

  it("[T4] an object that shares itself endlessly is refused, not copied for ever", () => {
    let shared: Record<string, unknown> = { leaf: true }
    for (let level = 0; level < 40; level++) shared = { left: shared, right: shared }
    expect(firstIssue(shared)).toMatchObject({ expected: "at most 500000 values" })
  }, 20_000)
})

describe("values that are JSON", () => {
  it("[T4] plain objects of any realm and without a prototype are read", () => {
    const foreign: unknown = runInNewContext('({ a: [{ b: "c" }] })')
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    expect([firstIssue(foreign), firstIssue(bare)]).toEqual([{ a: [{ b: "c" }] }, { a: 1 }])
  })

  it("[T4] a value and its JSON text give the same arguments", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const fromText = parseToolArgs(anything, JSON.stringify(value))
        // Integers that lost digits on the way can only be recognised in text.
        fc.pre(fromText.ok)
        expect(parseToolArgs(anything, value)).toEqual(fromText)
      })
    )
  })

  it("[T4] the caller's object is neither changed nor frozen nor shared", () => {
    const spec = {
      id: "t",
      inputSchema: closeArgs(
        Type.Object({
          list: Type.Array(Type.Object({ n: Type.Number({ default: 3 }), gone: Type.Optional(Type.String()) }))
        })
      ).schema
    }
    const raw = { list: [{ gone: null }, { n: -0 }] }
    const parsed = parseToolArgs(spec, raw)
    const value = { list: [{ n: 3 }, { n: 0 }] }
    expect(parsed).toEqual({ ok: true, value, notes: [], digest: digestOf(value) })
    expect(raw).toStrictEqual({ list: [{ gone: null }, { n: -0 }] })
    raw.list.push({ gone: null })
    expect(parsed.ok && parsed.value["list"]).toHaveLength(2)
  })
})
