import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ToolRendering } from "../src/index.js"

const { renderToolOutput } = ToolRendering

class Point {
  readonly x = 1
  readonly #hidden = 2
  get sum(): number {
    return this.x + this.#hidden
  }
}

class Opaque {
  readonly #hidden = 2
  read(): number {
    return this.#hidden
  }
}

const cycle = (): object => {
  const a: { self?: object; name: string } = { name: "a" }
  a.self = a
  return a
}

const hostile = (): object => ({
  kept: 1,
  get boom() {
    throw new Error("y")
  }
})

describe("every value has one text", () => {
  // C038, C040
  it.each<[string, unknown, string]>([
    ["undefined", undefined, "(no output)"],
    ["an empty string", "", "(empty text)"],
    ["a blank string", " \n\t", "(empty text)"],
    ["null", null, "null"],
    ["a string", "18 °C", "18 °C"],
    ["a string that looks like JSON", '{"a":1}', '{"a":1}'],
    ["half of a surrogate pair", "a\ud800b", "a\ufffdb"],
    ["half of a pair as a key", { "\ud800": 1 }, '{"\ufffd":1}'],
    ["a number", 1.5, "1.5"],
    ["negative zero", [-0], "[0]"],
    ["NaN in an object", { v: Number.NaN }, '{"v":"NaN"}'],
    ["infinity", Number.NEGATIVE_INFINITY, "-Infinity"],
    ["a bigint", 10n ** 20n, "100000000000000000000"],
    ["a bigint in an object", { v: 7n }, '{"v":"7"}'],
    ["undefined in an object", { a: 1, b: undefined }, '{"a":1}'],
    ["undefined in objects of an array", [{ a: 1, b: undefined }], '[{"a":1}]'],
    ["undefined in an array", [1, undefined], "[1,null]"],
    ["a hole", Object.assign([], { 1: 1 }), "[null,1]"],
    ["a symbol", Symbol("s"), "[symbol s]"],
    ["a function", () => 1, "[function]"],
    ["a function as a member", { f: () => 1 }, '{"f":"[function]"}'],
    ["a Map", new Map([["k", 1]]), '[["k",1]]'],
    ["a Set", new Set(["k", 1]), '["k",1]'],
    ["a Date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["an invalid Date", new Date(Number.NaN), "[invalid date]"],
    ["a RegExp", /a+/gi, "/a+/gi"],
    ["a URL", new URL("http://localhost/a"), "http://localhost/a"],
    ["a boxed number", Object(1), "1"],
    ["an instance of a class", new Point(), '{"x":1}'],
    ["an instance without members", new Opaque(), "[Opaque]"],
    ["a promise in an object", { p: Promise.resolve(1) }, '{"p":"[Promise]"}'],
    ["an object without a prototype", Object.create(null), "{}"],
    ["binary data", new Uint8Array(12), "[Uint8Array of 12 bytes]"],
    ["a Buffer", Buffer.from("abc"), "[Buffer of 3 bytes]"],
    ["an array buffer", new ArrayBuffer(2), "[ArrayBuffer of 2 bytes]"],
    [
      "an error",
      new TypeError("bad", { cause: new Error("deep") }),
      '{"name":"TypeError","message":"bad","cause":{"name":"Error","message":"deep"}}'
    ],
    [
      "an error with members",
      Object.assign(new Error("bad"), { code: "E1" }),
      '{"name":"Error","message":"bad","code":"E1"}'
    ],
    ["a cycle", cycle(), '{"name":"a","self":"[cycle]"}'],
    ["a throwing getter beside a good member", hostile(), '{"kept":1,"boom":"[unserialisable: y]"}'],
    [
      "a throwing toJSON",
      {
        toJSON: () => {
          throw new Error("x")
        }
      },
      "[unserialisable: x]"
    ],
    ["a toJSON that gives nothing", { toJSON: () => undefined }, "null"],
    ["a member named toJSON", { toJSON: 1 }, '{"toJSON":1}'],
    ["a member named __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}']
  ])("[T10] %s", (_name, value, text) => {
    expect(renderToolOutput(value)).toBe(text)
  })

  it("[T10] toJSON and getters run once", () => {
    const calls: Array<string> = []
    const value = {
      get read() {
        calls.push("read")
        return 1
      },
      inner: {
        toJSON: () => {
          calls.push("toJSON")
          return { toJSON: () => calls.push("second") }
        }
      }
    }
    expect(renderToolOutput(value)).toBe('{"read":1,"inner":{}}')
    expect(calls).toEqual(["read", "toJSON"])
  })

  it("[T10] depth is bounded", () => {
    let value: unknown = 1
    for (let level = 0; level < 100_000; level++) value = [value]
    const text = renderToolOutput(value)
    expect(text).toBe(`${"[".repeat(64)}"[more than 64 levels deep]"${"]".repeat(64)}`)
  })

  it("[T10] shared objects cannot multiply without end", () => {
    let value: unknown = ["x"]
    for (let level = 0; level < 40; level++) value = [value, value]
    const text = renderToolOutput(value)
    expect(text.length).toBeLessThan(4_000_000)
    expect(text).toContain("more items")
  })

  it("[T10] a huge sparse array is cut with a note", () => {
    // eslint-disable-next-line unicorn/no-new-array
    const text = renderToolOutput(new Array(4_000_000_000))
    expect(text.endsWith('null,"[3999900000 more items]"]')).toBe(true)
  })

  it("[T10] a shared text cannot multiply without end", () => {
    const text = "x".repeat(1_000_000)
    expect(renderToolOutput(Array.from({ length: 1_000 }, () => text)).length).toBeLessThan(17_000_000)
  })

  it("[T10] a proxy that throws at everything is a note", () => {
    const trap = (): never => {
      throw new Error("trapped")
    }
    const value: unknown = new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap, has: trap })
    expect(renderToolOutput({ value })).toBe('{"value":"[unserialisable: trapped]"}')
  })

  it("[T10] what was thrown may itself throw", () => {
    const thrown: unknown = {
      toString: () => {
        throw new Error("again")
      }
    }
    const value = {
      get boom() {
        throw thrown
      }
    }
    expect(renderToolOutput(value)).toBe('{"boom":"[unserialisable: an unreadable error]"}')
  })

  it("[T10] any value at all gives a text that is not blank and well formed", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withNullPrototype: true
        }),
        (value) => {
          const text = renderToolOutput(value)
          expect(text.trim()).not.toBe("")
          expect(text.isWellFormed()).toBe(true)
        }
      )
    )
  })

  it("[T10] JSON values render as JSON.stringify writes them", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== "string")
        expect(renderToolOutput(value)).toBe(JSON.stringify(value))
      })
    )
  })
})
