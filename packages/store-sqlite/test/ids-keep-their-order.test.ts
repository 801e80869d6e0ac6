import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fromOrderedText, toOrderedText } from "../src/internal/orderedText.js"

/** Any string at all, half surrogate pairs and control characters included. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0x20, max: 0x7f }),
      fc.integer({ min: 0xd7fe, max: 0xe002 }),
      fc.integer({ min: 0xfffd, max: 0xffff })
    ),
    { maxLength: 6 }
  )
  .map((units) => String.fromCharCode(...units))

describe("an id in the database", () => {
  it("[D3] comes back as it was", () => {
    fc.assert(
      fc.property(anyText, (id) => {
        expect(fromOrderedText(toOrderedText(id))).toBe(id)
      })
    )
  })

  it("[D3] is text that SQLite can hold: well formed, and without a NUL", () => {
    fc.assert(
      fc.property(anyText, (id) => {
        const text = toOrderedText(id)
        expect([text.isWellFormed(), text.includes("\0")]).toEqual([true, false])
      })
    )
  })

  it("[D3] sorts by its bytes as it sorts by its UTF-16 code units", () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        const byBytes = Buffer.compare(Buffer.from(toOrderedText(left)), Buffer.from(toOrderedText(right)))
        expect(byBytes).toBe(left < right ? -1 : left > right ? 1 : 0)
      })
    )
  })

  it("[D3] is itself where nothing needs to be moved", () => {
    expect(["run-1/2/0", "Überweisung", "支払い"].map(toOrderedText)).toEqual(["run-1/2/0", "Überweisung", "支払い"])
  })
})
