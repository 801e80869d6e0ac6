import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Exchange } from "../src/internal/exchanges.js"
import { planTurn, type Turn } from "../src/internal/planTurn.js"
import { readRequest } from "../src/internal/readRequest.js"

const work = (on: object): object => ({ type: "work", on })
const read = (...files: ReadonlyArray<string>): object => work({ type: "read", files })

describe("a request about the folder", () => {
  it.each<[string, ReadonlyArray<ReadonlyArray<object>>]>([
    ["find TODO", [[work({ type: "find", text: "TODO", place: "." })]]],
    ['search for "a; then b" in src', [[work({ type: "find", text: "a; then b", place: "src" })]]],
    ["list", [[work({ type: "folder", path: "." })]]],
    ["ls src", [[work({ type: "folder", path: "src" })]]],
    ["what files are there?", [[work({ type: "folder", path: "." })]]],
    ["find files *.test.js", [[work({ type: "files", pattern: "*.test.js" })]]],
    ["read src/price.js and test/price.test.js", [[read("src/price.js", "test/price.test.js")]]],
    ["show me README.md", [[read("README.md")]]],
    ["show src/a.js", [[read("src/a.js")]]],
    ["show files", [[work({ type: "folder", path: "." })]]],
    ["read price", [[read("price")]]],
    ["run the tests", [[work({ type: "test" })]]],
    ["run tests and fix the failing test", [[work({ type: "test" }), work({ type: "mend" })]]],
    ["please fix the failing test", [[work({ type: "mend" })]]],
    [
      "replace `x > 10; y` with `x >= 10; y` in src/a.js",
      [[work({ type: "replace", from: "x > 10; y", to: "x >= 10; y", file: "src/a.js", isAll: false })]]
    ],
    [
      "change Sum to Total everywhere",
      [[work({ type: "replace", from: "Sum", to: "Total", file: undefined, isAll: true })]]
    ],
    ["create notes.md with `# Hi\\n`", [[work({ type: "write", file: "notes.md", text: "# Hi\n\n" })]]],
    ['write "a b" to docs/x.txt', [[work({ type: "write", file: "docs/x.txt", text: "a b\n" })]]],
    ["rename src/a.js to src/b.js", [[work({ type: "move", from: "src/a.js", to: "src/b.js" })]]],
    ["delete src/a.js", [[work({ type: "delete", path: "src/a.js" })]]],
    ["run `npm test && ls`", [[work({ type: "run", command: "npm test && ls" })]]],
    ["fetch https://example.com/a?b=c", [[work({ type: "fetch", url: "https://example.com/a?b=c" })]]],
    ["todo: buy tea, read a book", [[work({ type: "tasks", tasks: ["buy tea", "read a book"] })]]],
    [
      "read a.js, then weather in Oslo and what is 2+2",
      [
        [read("a.js")],
        [
          { type: "weather", city: "Oslo" },
          { type: "calculate", expression: "2+2" }
        ]
      ]
    ],
    ["find the weather in Oslo", [[{ type: "weather", city: "Oslo" }]]],
    ["note: read the book", [[{ type: "note", text: "read the book" }]]],
    ["write down the weather", [[{ type: "note", text: "" }]]],
    ["add milk to the list", [[{ type: "list", item: "milk" }]]]
  ])("%s", (text, groups) => {
    expect(readRequest(text)).toEqual(groups)
  })

  it("is read to its end, whatever it says", () => {
    const word = fc.constantFrom(
      "run",
      "the",
      "tests",
      "replace",
      "`a`",
      '"b',
      "with",
      "in",
      "src/a.js",
      "then",
      ";",
      "and",
      "\ue0000\ue001"
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        expect(Array.isArray(readRequest(words.join(" ")))).toBe(true)
      })
    )
  })
})

const came = (toolId: string, given: Partial<Exchange> = {}): Exchange => ({
  toolId,
  arguments: {},
  isError: false,
  outcome: "Completed",
  text: "",
  data: undefined,
  ...given
})

const file = (path: string, ...lines: ReadonlyArray<string>): Exchange =>
  came("read", { text: lines.map((line, index) => `${index + 1}\t${line}`).join("\n"), data: { file_path: path } })

const refused = (toolId: string, text: string): Exchange => came(toolId, { isError: true, outcome: "NotRun", text })

const plan = (request: string, ...turns: ReadonlyArray<ReadonlyArray<Exchange>>): Turn =>
  planTurn({ request, turns }, { mayCall: true, hasFolder: true })

const report = (failed: number, failure = ""): Exchange =>
  came("bash", { text: `TAP version 13\n${failure}# pass ${7 - failed}\n# fail ${failed}\n`, data: { exit_code: 0 } })

const failing = report(
  1,
  [
    "not ok 1 - ten are cheaper",
    "  ---",
    "  location: '/ws/test/p.test.js:3:1'",
    "  failureType: 'testCodeFailure'",
    "  expected: 9",
    "  actual: 10",
    "  ...",
    ""
  ].join("\n")
)

const toTheEdit = [
  [file("package.json", '  "test": "node --test"')],
  [failing],
  [file("test/p.test.js", 'import { p } from "../src/p.js"', "", "it(() => p(10))")],
  [file("src/p.js", "export const p = (n) => (n > 10 && n < 99 ? n - 1 : n)")]
]

const editCalls = (turn: Turn): ReadonlyArray<unknown> =>
  turn.calls.map((call) => [call.toolId, call.arguments["file_path"], call.arguments["edits"]])

describe("the offline model, on a folder", () => {
  it("looks before it changes, and changes what was asked for", () => {
    const request = "replace Sum with Total in a.js"
    expect(plan(request).calls).toEqual([{ toolId: "read", arguments: { file_path: "a.js" } }])
    expect(plan(request, [file("a.js", "Sum")]).calls).toEqual([
      { toolId: "edit", arguments: { file_path: "a.js", old_string: "Sum", new_string: "Total" } }
    ])
    expect(plan(request, [file("a.js", "Sum")], [came("edit", { data: { replacements: 1 } })])).toEqual({
      text: "a.js is changed, in one place.",
      calls: []
    })
  })

  it("asks in which file where there are several, and goes on with the answer", () => {
    const request = "replace Sum with Total"
    const found = came("grep", { data: { files: ["a.js", "b.js"] } })
    expect(plan(request, [found]).calls).toEqual([
      {
        toolId: "ask_user",
        arguments: {
          question: 'In which file should "Sum" be replaced?',
          options: [{ label: "a.js" }, { label: "b.js" }]
        }
      }
    ])
    expect(plan(request, [found], [came("ask_user", { data: { answer: "b.js" } })]).calls).toEqual([
      { toolId: "read", arguments: { file_path: "b.js" } }
    ])
    expect(plan(request, [found], [refused("ask_user", "nobody is there")]).text).toContain("I changed nothing")
  })

  it("searches for a text to the letter", () => {
    expect(plan("find `a.b(`").calls).toEqual([
      { toolId: "grep", arguments: { pattern: String.raw`a\.b\(`, path: "." } }
    ])
  })

  it("follows a failing test to the line, tries, and believes the tests", () => {
    const request = "fix the failing test"
    expect(plan(request).calls).toEqual([{ toolId: "read", arguments: { file_path: "package.json" } }])
    expect(plan(request, ...toTheEdit.slice(0, 1)).calls).toEqual([
      { toolId: "bash", arguments: { command: "node --test" } }
    ])
    expect(plan(request, ...toTheEdit.slice(0, 2)).calls).toEqual([
      { toolId: "read", arguments: { file_path: "/ws/test/p.test.js" } }
    ])
    expect(plan(request, ...toTheEdit.slice(0, 3)).calls).toEqual([
      { toolId: "read", arguments: { file_path: "src/p.js" } }
    ])
    const line = "export const p = (n) => (n > 10 && n < 99 ? n - 1 : n)"
    const first = { old_string: line, new_string: line.replace("n > 10", "n >= 10") }
    expect(editCalls(plan(request, ...toTheEdit))).toEqual([["edit", "src/p.js", [first]]])
    const tried = [...toTheEdit, [came("edit")]]
    expect(plan(request, ...tried, [report(0)]).text).toContain("Fixed: in src/p.js, line 1, > becomes >=.")
    const next = { old_string: line, new_string: line.replace("n < 99", "n <= 99") }
    const back = { old_string: first.new_string, new_string: first.old_string }
    expect(editCalls(plan(request, ...tried, [failing]))).toEqual([["edit", "src/p.js", [back, next]]])
  })

  it("stops at a refusal, and says what it would have done", () => {
    const denied = plan("fix the failing test", ...toTheEdit, [refused("edit", "edit was denied: the person said no")])
    expect(denied.calls).toEqual([])
    expect(denied.text).toContain("but I may not: edit was denied: the person said no.")
    const planned = plan("fix the failing test", ...toTheEdit, [
      refused("edit", "edit was blocked: plan mode: nothing that writes")
    ])
    expect(planned.text).toContain("In plan mode I only look. I would change line 1 of src/p.js")
  })

  it("takes back what did not help, and says so", () => {
    const attempts = [0, 1, 2, 3].flatMap(() => [[came("edit")], [failing]])
    const undone = plan("fix the failing test", ...toTheEdit, ...attempts)
    expect(undone.calls).toHaveLength(1)
    const said = plan("fix the failing test", ...toTheEdit, ...attempts, [came("edit")])
    expect(said.text).toContain("I tried 4 small changes and none made “ten are cheaper” pass; the file is as it was.")
  })

  it("says that there is nothing to fix where all tests pass, and shows what it cannot read", () => {
    const packages = [file("package.json", '"test": "jest"')]
    expect(plan("run the tests", packages).calls).toEqual([{ toolId: "bash", arguments: { command: "npm test" } }])
    expect(plan("fix the failing test", packages, [report(0)]).text).toBe("All 7 tests pass: there is nothing to fix.")
    const odd = came("bash", { text: "sh: jest: not found", data: { exit_code: 127 } })
    expect(plan("run the tests", packages, [odd]).text).toContain("npm test ended with 127")
  })

  it("says what is missing where there is no folder, and does the rest", () => {
    const turn = planTurn({ request: "list, then 1 + 1", turns: [] }, { mayCall: true, hasFolder: false })
    expect(turn.calls).toEqual([{ toolId: "calculate", arguments: { expression: "1 + 1" } }])
    const done = planTurn({ request: "list", turns: [] }, { mayCall: true, hasFolder: false })
    expect(done.text).toBe("There is no folder to work on: start with --workspace DIR.")
  })

  it("answers with what it has when it may not call", () => {
    const turn = planTurn({ request: "run the tests", turns: [] }, { mayCall: false, hasFolder: true })
    expect(turn.calls).toEqual([])
  })
})
