/** Equal values have one text and one digest, whatever the order of their keys; different values never share one. */
import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalJson, deepFreeze, digest, isJsonObject, type Json, sha256Hex } from "../src/Json.js"

describe("canonical JSON", () => {
  it.each<[string, Json, string]>([
    [
      "numbers as ECMAScript writes them",
      [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, 1e21, 1e20, 5e-324],
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,100000000000000000000,5e-324]"
    ],
    [
      "strings with the shortest escapes",
      '\u20ac$\u000f\nA\'B"\\\\"/\u007f',
      '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u007f"'
    ],
    ["literals", [null, true, false], "[null,true,false]"],
    [
      "keys by UTF-16 code units, not by code points",
      { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7, "10": 8, "": 9 },
      '{"":9,"\\r":2,"1":4,"10":8,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}'
    ],
    [
      "nested objects and arrays without white space",
      { b: [{ d: 1, c: {} }, []], a: "" },
      '{"a":"","b":[{"c":{},"d":1},[]]}'
    ],
    ["a key named __proto__ like any other", JSON.parse('{"b":1,"__proto__":2}') as Json, '{"__proto__":2,"b":1}'],
    ["a lone surrogate as its escape", "a\ud800", '"a\\ud800"']
  ])("[T14] writes %s", (_, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it.each([
    [Number.NaN],
    [Infinity],
    [undefined],
    [1n],
    [() => 1],
    [[undefined]],
    [{ a: undefined }],
    [{ a: [Number.NaN] }]
  ])("[T14] has no text for %o", (value) => {
    expect(() => canonicalJson(value as unknown as Json)).toThrow(TypeError)
  })

  it("[T14] reads back as the value, and does not depend on the order of keys", () => {
    const reversed = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(reversed)
        : isJsonObject(value)
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, inner]) => [key, reversed(inner)])
            )
          : value
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false } as object), (json) => {
        const value = JSON.parse(JSON.stringify(json)) as Json
        expect(JSON.parse(canonicalJson(value))).toEqual(value)
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      })
    )
  })
})

describe("digests", () => {
  it("[T14] are the full SHA-256 of label, NUL and canonical text", () => {
    const expected = createHash("sha256").update('arguments\u0000{"a":"\u00e9","b":1}').digest("hex")
    expect(digest("arguments", { b: 1, a: "\u00e9" })).toBe(expected)
    expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  })

  it("[T14] differ by label, and where texts and labels could run together", () => {
    const all = [
      digest("a", "b"),
      digest("b", "b"),
      digest("a", "c"),
      digest("a", ["b"]),
      digest("ab", ""),
      digest("a", "b\u0000")
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})

describe("freezing", () => {
  it("[T3] goes all the way down, in place", () => {
    const value = { a: [{ b: 1 }], c: null }
    expect(deepFreeze(value)).toBe(value)
    expect([value, value.a, value.a[0]].every(Object.isFrozen)).toBe(true)
  })
})
