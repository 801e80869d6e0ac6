import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ApprovalText } from "../src/index.js"

describe("what an approver sees", () => {
  it("[H8] control, bidirectional and invisible characters are written out", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["plain text, 1 + 1 = 2", "plain text, 1 + 1 = 2"],
      ["a\u001b[2Jb", "a⟨U+001B⟩[2Jb"],
      ["rm\u0000x\u0007", "rm⟨U+0000⟩x⟨U+0007⟩"],
      ["a\r\nb", "a⟨U+000D⟩\nb"],
      ["access\u202e txt.exe\u202c", "access⟨U+202E⟩ txt.exe⟨U+202C⟩"],
      ["\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"],
      ["a\u200bb\u200dc\ufeff", "a⟨U+200B⟩b⟨U+200D⟩c⟨U+FEFF⟩"],
      ["a\u00a0b\u3000c", "a⟨U+00A0⟩b⟨U+3000⟩c"],
      ["tag\u{e0041}\u{e0042}", "tag⟨U+E0041⟩⟨U+E0042⟩"],
      ["a\ufe0fb", "a⟨U+FE0F⟩b"],
      ["\u3164 \u2800", "⟨U+3164⟩ ⟨U+2800⟩"],
      ["\ud800", "⟨U+D800⟩"],
      ["a\u2028b", "a⟨U+2028⟩b"],
      ["⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"]
    ]
    expect(rows.map(([text]) => [text, ApprovalText.show(text)])).toEqual(rows)
  })

  it("[H8] letters that pose as others are written out, and words of one script are left alone", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["p\u0430ypal.test", "p⟨U+0430⟩ypal.test"],
      ["привет мир", "привет мир"],
      ["Ελληνικά", "Ελληνικά"],
      ["日本語 テスト", "日本語 テスト"],
      ["\uff52\uff4d x", "⟨U+FF52⟩⟨U+FF4D⟩ x"],
      ["\u{1d42b}m", "⟨U+1D42B⟩m"],
      ["a\u2215b", "a⟨U+2215⟩b"],
      ["cafe\u0301", "cafe\u0301"],
      ["z\u0301\u0302\u0303", "z\u0301⟨U+0302⟩⟨U+0303⟩"]
    ]
    expect(rows.map(([text]) => [text, ApprovalText.show(text)])).toEqual(rows)
  })

  it("[H8] on one line there is one line", () => {
    expect(ApprovalText.showLine("a\nb\tc")).toBe("a⟨U+000A⟩b⟨U+0009⟩c")
  })

  it("[H8] different texts look different", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        expect(ApprovalText.show(one) === ApprovalText.show(other)).toBe(one === other)
        expect(ApprovalText.show(one)).not.toMatch(/[^\P{C}\n\t]/u)
      }),
      { numRuns: 2_000 }
    )
  })

  it("[H1] members that the schema marks secret are hidden, wherever the schema describes them", () => {
    const schema = {
      type: "object",
      properties: {
        user: { type: "string" },
        token: { type: "string", secret: true },
        nested: { $ref: "#/$defs/nested" },
        list: { type: "array", items: { type: "object", properties: { key: { secret: true } } } },
        pair: { prefixItems: [{ type: "string" }, { type: "string", secret: true }], items: false },
        either: { anyOf: [{ type: "string" }, { type: "object", properties: { pin: { secret: true } } }] },
        map: { type: "object", additionalProperties: { type: "string", secret: true } },
        all: { allOf: [{ properties: { a: {} } }, { properties: { a: { secret: true } } }] },
        whole: { type: "object", secret: true }
      },
      $defs: {
        nested: { type: "object", properties: { password: { secret: true }, next: { $ref: "#/$defs/nested" } } }
      }
    }
    const args = {
      user: "ann",
      token: "t",
      nested: { password: "p", next: { password: "q", next: { user: "x" } } },
      list: [{ key: 1, name: "n" }],
      pair: ["a", "b"],
      either: { pin: 1, other: 2 },
      map: { a: "1" },
      all: { a: 1, b: 2 },
      whole: { a: 1 }
    }
    const { hidden } = ApprovalText
    expect(ApprovalText.hideSecrets(args, schema)).toEqual({
      user: "ann",
      token: hidden,
      nested: { password: hidden, next: { password: hidden, next: { user: "x" } } },
      list: [{ key: hidden, name: "n" }],
      pair: ["a", hidden],
      either: { pin: hidden, other: 2 },
      map: { a: hidden },
      all: { a: hidden, b: 2 },
      whole: hidden
    })
    expect(ApprovalText.showArguments({ token: "t", user: "a\u202eb" }, schema)).toBe(
      '{\n  "token": "•••",\n  "user": "a⟨U+202E⟩b"\n}'
    )
  })
})
