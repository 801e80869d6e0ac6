import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { longestMatch, matches } from "../src/InvocationTrigger.js"

describe("triggers match whole words", () => {
  it("[Z2] a trigger is bounded by what is neither letter nor number", () => {
    const texts = ["dev", "my-dev", "dev.", "(dev)", "dev_ops", "device", "indev", "dev2", "2dev", "devé", "go dev go"]
    expect(texts.filter((text) => matches(text, "dev"))).toEqual([
      "dev",
      "my-dev",
      "dev.",
      "(dev)",
      "dev_ops",
      "go dev go"
    ])
  })

  it("[Z2] a later place may match where an earlier one does not", () => {
    expect([matches("device dev", "dev"), matches("devdev dev", "dev"), matches("aaa a", "a")]).toEqual([
      true,
      true,
      true
    ])
  })

  it("[Z2] letters without case bound like all others", () => {
    expect([matches("天気", "天気"), matches("今日の天気", "天気"), matches("今日、天気。", "天気")]).toEqual([
      true,
      false,
      true
    ])
  })

  it("[Z2] characters outside the basic plane are walked whole", () => {
    // Old Italic letters are Alphabetic and two code units long; an emoji is neither letter nor number.
    // The first letter outside the plane, whose halves are the smallest there are.
    expect([matches("\u{10000}dev", "dev"), matches("dev\u{10000}", "dev")]).toEqual([false, false])
    expect([matches("𐌀dev", "dev"), matches("dev𐌀", "dev"), matches("🔧dev🔧", "dev"), matches("🔧", "🔧")]).toEqual([
      false,
      false,
      true,
      true
    ])
  })

  it("[Z2] half a surrogate pair is no letter and never matches inside a pair", () => {
    expect([
      matches("a\udc00dev", "dev"),
      matches("\ud83d dev", "dev"),
      matches("🔧", "\udd27"),
      matches("🔧", "\ud83d")
    ]).toEqual([true, true, false, false])
  })

  it("[Z2] case is folded beyond ASCII: ß is SS, final sigma is sigma", () => {
    expect([
      matches("STRASSE", "straße"),
      matches("straße", "STRASSE"),
      matches("ΟΔΟΣ", "οδος"),
      matches("οδος", "ΟΔΟΣ"),
      matches("ÉTÉ", "été")
    ]).toEqual([true, true, true, true, true])
  })

  it("[Z2] the Turkish letters: dotted I matches itself in any case, and dotless i is no i", () => {
    expect([
      matches("İSTANBUL'da hava", "İstanbul"),
      matches("ılık", "ılık"),
      matches("ilik", "ılık"),
      matches("ILIK", "ilik")
    ]).toEqual([true, true, false, true])
  })

  it("[Z2] a trigger is literal", () => {
    expect([matches("aXb", "a.b"), matches("a.b", "a.b"), matches("c++ rocks", "c++"), matches("[x]", "[x]")]).toEqual([
      false,
      true,
      true,
      true
    ])
  })

  it("[Z2] an empty or blank trigger never matches", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("", " ", "\n\t"), (text, blank) => {
        expect(matches(text, blank)).toBe(false)
      })
    )
  })

  it("[Z2] every text contains itself, and stays found between blanks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        if (text.trim() === "") return
        expect(matches(`. ${text} .`, text)).toBe(true)
      })
    )
  })

  it("[Z2] of several matches the longest wins, and the first of equals", () => {
    const candidates = [
      { id: "a", triggers: ["weather"] },
      { id: "b", triggers: ["", "the weather", "snow"] },
      { id: "c", triggers: ["the weather"] },
      { id: "d", triggers: ["the weather in Rome"] }
    ]
    expect(longestMatch("tell me the weather", candidates)).toEqual({
      candidate: candidates[1],
      trigger: "the weather"
    })
    expect(longestMatch("nothing", candidates)).toBeUndefined()
  })
})
