import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mendingsOf, type Suspect } from "../src/internal/mendings.js"
import { functionAt, importsOf, suspectsIn } from "../src/internal/suspects.js"
import { readTestReport, type TestFailure } from "../src/internal/testReport.js"

/** As Node 20 and 22 print it into a pipe. */
const tap = `TAP version 13
# Subtest: prices
    # Subtest: ten cups are cheaper
    not ok 1 - ten cups are cheaper
      ---
      duration_ms: 0.81
      location: '/ws/test/price.test.js:6:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:
        
        50 !== 45
        
      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      expected: 45
      actual: 50
      operator: 'strictEqual'
      stack: |-
        TestContext.<anonymous> (file:///ws/test/price.test.js:6:45)
        Test.run (node:internal/test_runner/test:796:25)
      ...
    # Subtest: booms
    not ok 2 - booms
      ---
      duration_ms: 0.12
      location: '/ws/test/price.test.js:7:3'
      failureType: 'testCodeFailure'
      error: "Cannot read properties of undefined (reading 'bar')"
      code: 'ERR_TEST_FAILURE'
      name: 'TypeError'
      stack: |-
        boom (file:///ws/src/price.js:5:34)
        TestContext.<anonymous> (file:///ws/test/price.test.js:7:40)
      ...
    1..2
not ok 1 - prices
  ---
  duration_ms: 1.54
  type: 'suite'
  location: '/ws/test/price.test.js:5:1'
  failureType: 'subtestsFailed'
  error: '2 subtests failed'
  code: 'ERR_TEST_FAILURE'
  ...
1..1
# tests 4
# suites 1
# pass 2
# fail 2
`

/** As Node 24 does, and every one on a terminal. */
const people = `▶ prices
  ✖ ten cups are cheaper (0.80ms)
✖ prices (1.45ms)
ℹ tests 4
ℹ suites 1
ℹ pass 2
ℹ fail 2

✖ failing tests:

test at test/price.test.js:6:3
✖ ten cups are cheaper (0.80ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  50 !== 45
  
      at TestContext.<anonymous> (file:///ws/test/price.test.js:6:45)
      at Test.run (node:internal/test_runner/test:796:25) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 50,
    expected: 45,
    operator: 'strictEqual'
  }

test at test/price.test.js:7:3
✖ booms (0.12ms)
  TypeError [Error]: Cannot read properties of undefined (reading 'bar')
      at boom (file:///ws/src/price.js:5:34)
      at TestContext.<anonymous> (file:///ws/test/price.test.js:7:40)
`

describe("a report of tests", () => {
  it.each([
    ["TAP", tap, "/ws/test/price.test.js", ""],
    ["the form for people", people, "test/price.test.js", "AssertionError [ERR_ASSERTION]: "]
  ])("in %s gives each failure with its place, its values and its stack", (_, text, file, prefix) => {
    const report = readTestReport(text)
    expect([report?.passed, report?.failed]).toEqual([2, 2])
    expect(report?.failures[0]).toEqual({
      name: "ten cups are cheaper",
      file,
      line: 6,
      error: `${prefix}Expected values to be strictly equal: 50 !== 45`,
      expected: "45",
      actual: "50",
      stack: [{ file: "/ws/test/price.test.js", line: 6 }]
    })
    expect(report?.failures[1]).toMatchObject({
      name: "booms",
      file,
      line: 7,
      error: expect.stringContaining("Cannot read properties of undefined (reading 'bar')") as unknown,
      stack: [
        { file: "/ws/src/price.js", line: 5 },
        { file: "/ws/test/price.test.js", line: 7 }
      ]
    })
  })

  it("is not seen where there is none", () => {
    expect(readTestReport("bash: node: command not found\n(exit code 127)")).toBeUndefined()
  })

  it("never stops the model, whatever the output", () => {
    const piece = fc.constantFrom(
      "not ok 1 - a\n",
      "  ---\n",
      "  ...\n",
      "# fail 1\n",
      "✖ failing tests:\n",
      "test at a:1:2\n",
      "{"
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const report = readTestReport(pieces.join(""))
        expect(report === undefined || Array.isArray(report.failures)).toBe(true)
      })
    )
  })
})

const failure: TestFailure = {
  name: "ten cups",
  file: "/ws/test/price.test.js",
  line: 6,
  error: "",
  expected: "45",
  actual: "50",
  stack: []
}

const suspect = (text: string, isThrower = false): Suspect => ({ line: 3, text, isThrower })

const firstOf = (text: string, test: string): string | undefined =>
  mendingsOf([suspect(text)], { failure, test })[0]?.after

describe("a mending", () => {
  it.each([
    ["return n > 10 && ok", "priceOf(10)", "return n >= 10 && ok"],
    [
      "for (let i = 0; i <= list.length; i++) sum += list[i]",
      "sum([1])",
      "for (let i = 0; i < list.length; i++) sum += list[i]"
    ],
    ["return a === b", "same(1, 2)", "return a !== b"],
    ["return Math.floor(x)", "up(1.5)", "return Math.ceil(x)"]
  ])("of %s where the test says %s is first %s", (text, test, after) => {
    expect(firstOf(text, test)).toBe(after)
  })

  it("asks first where a property of nothing was read", () => {
    const thrown = { ...failure, error: "TypeError: Cannot read properties of undefined (reading 'bar')" }
    const [first] = mendingsOf([suspect("return x.foo.bar", true)], { failure: thrown, test: "" })
    expect(first?.after).toBe("return x.foo?.bar")
  })

  it("leaves texts, comments and arrows alone", () => {
    expect(mendingsOf([suspect('const f = () => "a > b" // x < y')], { failure, test: "" })).toEqual([])
  })

  it("changes one place of one line", () => {
    const line = fc
      .array(fc.constantFrom(" > ", " < ", "===", "&&", " + ", "10", "x", '"<"', "Math.max"), {
        minLength: 1,
        maxLength: 8
      })
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(line, (text) => {
        for (const { before, after } of mendingsOf([suspect(text)], { failure, test: "10" })) {
          expect(before).toBe(text)
          expect(after).not.toBe(text)
          expect(Math.abs(after.length - text.length)).toBeLessThanOrEqual(4)
        }
      })
    )
  })
})

const source = {
  path: "src/price.js",
  lines: [
    "const cup = 5",
    "export const priceOf = (cups) => {",
    "  return cups > 10 ? 1 : 2",
    "}",
    "export const tip = (x) => x + 1",
    "function boom(x) {",
    "  return x.foo.bar",
    "}"
  ]
}

describe("the lines that a failing test leads to", () => {
  it("are those of the functions that it calls, and those that the error came through", () => {
    const numbers = (body: string, stack: TestFailure["stack"] = []): ReadonlyArray<number> =>
      suspectsIn(source, { body, failure: { ...failure, stack } }).map(({ line }) => line)
    expect(numbers("assert.equal(priceOf(10), 45)")).toEqual([2, 3, 4])
    expect(numbers("tip(1)")).toEqual([5])
    expect(numbers("other()", [{ file: "/ws/src/price.js", line: 7 }])).toEqual([7])
    expect(numbers("nothing()")).toEqual([])
  })

  it("are found from the file of the test and what it imports", () => {
    const test = {
      path: "test/deep/price.test.js",
      lines: [
        'import a from "node:assert"',
        'import { b } from "../../src/b.js"',
        'const c = require("./c")',
        "it(() => {",
        "  b()",
        "})",
        "x"
      ]
    }
    expect(importsOf(test)).toEqual(["src/b.js", "test/deep/c.js"])
    expect(functionAt(test, 4)).toEqual(["it(() => {", "  b()", "})"])
  })
})
