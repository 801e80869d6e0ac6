import * as fs from "node:fs"
import fc from "fast-check"
import { expect, it } from "vitest"
import { previewChange, Workspace } from "../src/files.js"
import { content, folder, hands, put } from "./folder.js"

const preview = (root: string, toolId: string, given: Record<string, unknown>): unknown => {
  try {
    return previewChange(Workspace.open(root), { toolId, arguments: given as never })
  } catch (error) {
    return `refused: ${(error as Error).message}`
  }
}

it("[H8] an edit is shown as it would be made, and nothing is made", () => {
  const root = folder({ "src/a.ts": "const a = 1\nconst b = 2\n" })
  expect(preview(root, "edit", { file_path: "./src/a.ts", old_string: "b = 2", new_string: "b = 3" })).toEqual({
    file_path: "src/a.ts",
    replaces: "text",
    before: "const a = 1\nconst b = 2\n",
    after: "const a = 1\nconst b = 3\n"
  })
  expect(content(root, "src/a.ts")).toBe("const a = 1\nconst b = 2\n")
})

it("[H8] a write is shown beside what it replaces, line ends included", () => {
  const root = folder({ windows: "a\r\nb\r\n", picture: new Uint8Array([0, 1, 2]) })
  const write = (file_path: string): unknown => preview(root, "write", { file_path, content: "new\n" })
  expect([write("windows"), write("picture"), write("deep/new")]).toEqual([
    { file_path: "windows", replaces: "text", before: "a\r\nb\r\n", after: "new\n" },
    { file_path: "picture", replaces: "binary", before: "", after: "new\n" },
    { file_path: "deep/new", replaces: "none", before: "", after: "new\n" }
  ])
  expect(fs.readdirSync(root).toSorted()).toEqual(["picture", "windows"])
})

it("[H8] a write that takes away a byte order mark or another encoding is shown to do so", () => {
  const root = folder({ marked: "\ufeffa\n", wide: Buffer.from("\ufeffa\n", "utf16le") })
  const shown = (file_path: string): unknown => preview(root, "write", { file_path, content: "a\n" })
  expect([shown("marked"), shown("wide")]).toEqual([
    { file_path: "marked", replaces: "text", before: "\ufeffa\n", after: "a\n" },
    { file_path: "wide", replaces: "text", before: "\ufeffa\n", after: "a\n" }
  ])
})

it("what would be refused is refused in the same words, and no path leads out", async () => {
  const root = folder({ a: "x\nx\n", binary: new Uint8Array([0]) })
  put(root, "out", { link: "/etc/passwd" })
  const calls: ReadonlyArray<Record<string, unknown>> = [
    { file_path: "a", old_string: "x", new_string: "y" },
    { file_path: "a", old_string: "nowhere", new_string: "y" },
    { file_path: "a" },
    { file_path: "missing", old_string: "x", new_string: "y" },
    { file_path: "binary", old_string: "x", new_string: "y" },
    { file_path: "out", old_string: "root", new_string: "y" },
    { file_path: "../up", old_string: "root", new_string: "y" }
  ]
  const { text } = hands(root)
  for (const given of calls) expect(preview(root, "edit", given)).toBe(await text("edit", given))
  expect(preview(root, "write", { file_path: "out", content: "x" })).toBe(
    await text("write", { file_path: "out", content: "x" })
  )
})

it("other tools change no file in a way that could be shown", () => {
  expect(preview(folder(), "bash", { command: "rm a" })).toBeUndefined()
})

it("[H8] what is shown is what comes to be, whatever the text", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "é", "$&"), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(text, text, text, async (before, old_string, new_string) => {
      const root = folder({ f: before })
      const given = { file_path: "f", old_string, new_string, replace_all: true }
      const shown = preview(root, "edit", given)
      const said = await hands(root).text("edit", given)
      const came = typeof shown === "string" ? said : content(root, "f").replaceAll("\r\n", "\n")
      const { after } = shown as { readonly after?: string }
      expect(came).toBe(typeof shown === "string" ? shown : after?.replaceAll("\r\n", "\n"))
    }),
    { numRuns: 60 }
  )
})
