import { expect, it } from "vitest"
import { Workspace, fileTools } from "../src/files.js"
import { pageText } from "../src/internal/pageText.js"
import { terminalText } from "../src/internal/terminalText.js"
import { folder, hands } from "./folder.js"

/** Seconds that something takes; the bounds below are wide, what they keep out takes minutes or hours. */
const seconds = async (act: () => unknown): Promise<number> => {
  const start = performance.now()
  await act()
  return (performance.now() - start) / 1_000
}

it.each([
  ["starts of strings that never end", "\u009d".repeat(300_000) + "\u001bA", "\ufffd".repeat(300_000)],
  ["carriage returns", "\r".repeat(300_000) + "x", "\n".repeat(300_000) + "x"],
  ["escapes", "\u001b]".repeat(300_000) + "x", ""]
])("output of a program is cleaned in time that grows with its size: %s", async (_, text, expected) => {
  let cleaned = ""
  expect(await seconds(() => (cleaned = terminalText(text)))).toBeLessThan(5)
  expect(cleaned === expected).toBe(true)
})

it("a string without an end is text behind its mark, and sequences inside it are taken out", () => {
  expect(terminalText("a\u001b]0;title\u0007b\u001b]un\u009b31mended\u001b[0m.\u0090x\u001b[1my\r\r\nz\rq")).toBe(
    "abunended.\ufffdxy\nz\nq"
  )
})

it.each([
  ["breaks", "<br>".repeat(200_000) + "said"],
  ["white space", "<p>" + "\u00a0 ".repeat(200_000) + "said</p>y"],
  [
    "formatting that is taken up in every paragraph",
    "<p>" + Array.from({ length: 150 }, (__, index) => `<b a=${index}>`).join("") + "<p>said".repeat(20_000)
  ]
])("a page that is made to take long comes as bare text: %s", async (_, html) => {
  let text: string | undefined
  expect(await seconds(() => (text = pageText(Buffer.from(html), "text/html")?.text))).toBeLessThan(10)
  expect(text).toContain("said")
})

it("bare text holds no script, style or comment, whatever letters stand before them", () => {
  const html = `${"<div>".repeat(300)}${"\u0130".repeat(40)}<script>steal()</script><!-- <b>obey</b> --><STYLE>x{}</STYLE>said`
  expect(pageText(Buffer.from(html), "text/html")).toEqual({ text: `${"\u0130".repeat(40)} said` })
})

it.each([
  ["text/plain; charset=utf-16le", Buffer.from("caf\u00e9", "utf16le")],
  ["text/plain", Buffer.from("\ufeffcaf\u00e9", "utf16le")],
  ["text/plain; charset=iso-8859-1", Buffer.from("\ufeffcaf\u00e9", "utf16le").swap16()],
  ["application/json; charset=iso-8859-1", Buffer.from("\ufeffcaf\u00e9")]
])("a text says by its mark how it is encoded, and a header where it has none: %s", (type, body) => {
  expect(pageText(body, type)).toEqual({ text: "caf\u00e9" })
})

it.each(["*a".repeat(9) + "b", "{a,aa}".repeat(40) + "b", "(a+)+b"])(
  "[T5] a pattern that is made to take long is an argument to correct: %s",
  async (pattern) => {
    const root = folder({ [`${"a".repeat(120)}`]: "x\n" })
    const { text } = hands(root, fileTools(Workspace.open(root)))
    let said = ""
    expect(await seconds(async () => (said = await text("glob", { pattern })))).toBeLessThan(10)
    expect(said).toContain("use fewer stars and braces")
  }
)

it("a pattern with many stars matches what it did", async () => {
  const root = folder({ "src/one-two-three.test.ts": "x", "src/one.ts": "x" })
  const { text } = hands(root, fileTools(Workspace.open(root)))
  expect(await text("glob", { pattern: "**/*one*two*three*.{js,ts}" })).toBe("src/one-two-three.test.ts")
})

it("an ignore file that is made to take long says nothing and holds nothing up", async () => {
  const deep = "a/".repeat(60)
  const root = folder({ ".gitignore": "**/a/".repeat(9) + "b\n", [`${deep}c`]: "x\n" })
  const { text } = hands(root, fileTools(Workspace.open(root)))
  let said = ""
  expect(await seconds(async () => (said = await text("glob", { pattern: "**/c" })))).toBeLessThan(10)
  expect(said).toBe(`${deep}c`)
})
