import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fileDiff } from "../src/internal/fileDiff.js"
import { widthOf, wrap } from "../src/internal/paper.js"

const text = fc.string({
  unit: fc.constantFrom("a", "é", "漢", " ", "  ", "\n", "word", "x".repeat(30)),
  maxLength: 20
})

describe("text on the screen", () => {
  it("[H8] is broken and never cut: every character is there, and no line is too wide", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 40 }), (given, width) => {
        const lines = wrap(given, width)
        expect(lines.join("").replaceAll(/\s/g, "")).toBe(given.replaceAll(/\s/g, ""))
        expect(lines.filter((line) => widthOf(line.trimEnd()) > width)).toEqual([])
      })
    )
  })

  it("keeps the indent of code", () => {
    expect(wrap("if (a) {\n    return one two three\n}", 16)).toEqual([
      "if (a) {",
      "    return one",
      "    two three",
      "}"
    ])
  })
})

const shown = async (before: string, after: string): Promise<ReadonlyArray<string>> =>
  (await fileDiff(before, after)).map((line) => line.text)

describe("a difference", () => {
  it("[H8] is unified, says where it is, and shows a missing end of line", async () => {
    expect(await shown("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf")).toEqual([
      "@@ -2,5 +2,5 @@",
      " b",
      " c",
      " d",
      "-e",
      "-f",
      "+E",
      "+f",
      "\\ No newline at end of file"
    ])
    expect(await shown("same\n", "same\n")).toEqual([])
  })

  it("[H8] writes out what would hide: directions, blanks of no width or at the end, carriage returns", async () => {
    expect(await shown("admin\n", "ad\u200bmin\u202e\r\n")).toEqual([
      "@@ -1,1 +1,1 @@",
      "-admin",
      "+ad⟨U+200B⟩min⟨U+202E⟩⟨U+000D⟩"
    ])
    expect(await shown("a\n", "a  \n")).toEqual(["@@ -1,1 +1,1 @@", "-a", "+a⟨U+0020⟩⟨U+0020⟩"])
  })

  it("[H8] holds both texts whole", async () => {
    const lines = fc
      .array(fc.constantFrom("a", "b", "", " c"), { maxLength: 3 })
      .map((all) => all.map((line) => `${line}\n`).join(""))
    await fc.assert(
      fc.asyncProperty(lines, lines, async (before, after) => {
        fc.pre(before !== after)
        const all = (await shown(before, after)).filter((line) => !line.startsWith("@@"))
        const side = (sign: string): string =>
          all
            .filter((line) => line.startsWith(" ") || line.startsWith(sign))
            .map((line) => `${line.slice(1)}\n`)
            .join("")
        expect([side("-"), side("+")]).toEqual([before, after])
      })
    )
  })

  it("of two large texts that have nothing in common comes in time, and whole", async () => {
    const many = (word: string): string =>
      Array.from({ length: 20_000 }, (_, index) => `${word} ${index * 7919}\n`).join("")
    const all = await shown(many("a"), many("b"))
    expect(all.filter((line) => line.startsWith("-"))).toHaveLength(20_000)
    expect(all.filter((line) => line.startsWith("+"))).toHaveLength(20_000)
  })
})
