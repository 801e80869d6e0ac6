import { describe, expect, it } from "vitest"
import { check, type Files } from "./fixture.js"

const good: Files = {
  "docs/invariants.ts": `export const invariants: ReadonlyArray<object> = [
    { id: "T1", statement: "A tool is written once.", status: "holds" },
    { id: "R5", statement: "It is asked first.", status: "expected-to-fail", closedBy: "runtime",
      test: { file: "packages/runtime/test/asked-first.test.ts", title: "asks before it repeats" } }
  ]`,
  "docs/cases.ts": `export const cases = [
    { id: "C017", promise: "Recursion ends.", status: "tested", by: "packages/runtime-contract/test/once.test.ts" },
    { id: "C019", promise: "Costs one tool.", status: "expected-to-fail", closedBy: "mcp" }
  ]`,
  "packages/runtime-contract/test/once.test.ts": `it("[T1, C017] a tool is written once", () => {})\n`,
  "packages/runtime/test/asked-first.test.ts": `it.fails("asks before it repeats", () => {})\n`
}

describe("check-requirements", () => {
  it("passes when each claimed rule and case is cited", () => {
    expect(check("check-requirements", good)).toEqual({
      status: 0,
      output: "1 of 2 rules hold and are cited, 1 of 2 cases are tested\n"
    })
  })

  it.each<[string, Files, string]>([
    [
      "a rule that holds and no test cites",
      { "packages/runtime-contract/test/once.test.ts": `// C017\nit("a tool is written once", () => {})\n` },
      "T1: holds, but no test cites [T1]\n"
    ],
    [
      "a citation in code instead of a title or a comment",
      { "packages/runtime-contract/test/once.test.ts": `// C017\nconst x = table[T1]\n` },
      "T1: holds, but no test cites [T1]\n"
    ],
    [
      "a cited rule that is not listed",
      { "examples/weather.ts": "// [T99]\n" },
      "T99: cited in examples/weather.ts, but in no manifest\n"
    ],
    [
      "a cited case that is not listed",
      { "apps/acceptance/test/x.test.ts": 'it("C018", () => {})\n' },
      "C018: cited in apps/acceptance/test/x.test.ts, but in no manifest\n"
    ],
    [
      "a tested case that its file does not cite",
      { "packages/runtime-contract/test/once.test.ts": `it("[T1] a tool is written once", () => {})\n` },
      "C017: packages/runtime-contract/test/once.test.ts does not cite it\n"
    ],
    [
      "an expected failure whose test is an ordinary one now",
      { "packages/runtime/test/asked-first.test.ts": `it("asks before it repeats", () => {})\n` },
      `R5: "asks before it repeats" in packages/runtime/test/asked-first.test.ts is no it.fails any more; mark the entry as done\n`
    ],
    [
      "an expected failure that nobody will close",
      {
        "docs/cases.ts": 'export const cases = [{ id: "C017", promise: "Recursion ends.", status: "expected-to-fail" }]'
      },
      "C017: expected to fail, and names no package that closes it\n"
    ]
  ])("fails on %s", (_, broken, message) => {
    expect(check("check-requirements", { ...good, ...broken })).toEqual({ status: 1, output: message })
  })
})
