import * as fs from "node:fs"
import * as path from "node:path"
import fc from "fast-check"
import { expect, it } from "vitest"
import { replaceTexts } from "../src/internal/replaceTexts.js"
import { content, folder, hands } from "./folder.js"

it("an edit replaces one text, and answers with the lines about it", async () => {
  const root = folder({ "a.ts": "const a = 1\nconst b = 2\n" })
  const { call } = hands(root)
  const { content: blocks, data } = await call("edit", { file_path: "a.ts", old_string: "b = 2", new_string: "b = 3" })
  expect(content(root, "a.ts")).toBe("const a = 1\nconst b = 3\n")
  expect(blocks).toEqual([{ type: "text", text: "edited a.ts: 1 replacement\n1\tconst a = 1\n2\tconst b = 3\n3\t" }])
  expect(data).toMatchObject({ file_path: "a.ts", replacements: 1 })
})

it("several edits are applied in order, and none where one of them fails", async () => {
  const root = folder({ a: "one two" })
  const { text } = hands(root)
  const edits = [
    { old_string: "one", new_string: "1" },
    { old_string: "1 two", new_string: "1 2" }
  ]
  await text("edit", { file_path: "a", edits })
  expect(content(root, "a")).toBe("1 2")
  const failed = await text("edit", { file_path: "a", edits: [{ old_string: "1", new_string: "x" }, ...edits] })
  expect(failed).toContain("/edits/1/old_string")
  expect(content(root, "a")).toBe("1 2")
})

it.each([
  [{ old_string: "x", new_string: "y" }, "text that occurs 2 times (lines 1, 2)"],
  [{ old_string: "nowhere", new_string: "y" }, "text that does not"],
  [{ old_string: "  x", new_string: "y" }, "line 1 is alike but the white space"],
  [{ old_string: "1\tx", new_string: "y" }, "leave out the line numbers"],
  [{ old_string: "", new_string: "y" }, "an empty text"],
  [{ old_string: "x", new_string: "x" }, "the same text"],
  [{ old_string: "x" }, "not both texts"],
  [{ new_string: "x" }, "not both texts"],
  [{ old_string: "x", new_string: "y", edits: [{ old_string: "x", new_string: "y" }] }, "both forms"]
])("[T5] %j is refused and says why", async (args, why) => {
  const root = folder({ a: "x\nx\n" })
  expect(await hands(root).text("edit", { file_path: "a", ...args })).toContain(why)
  expect(content(root, "a")).toBe("x\nx\n")
})

it("replace_all replaces every occurrence, and signs that mean something to a replacement mean nothing", async () => {
  const root = folder({ a: "x.x" })
  await hands(root).text("edit", { file_path: "a", old_string: "x", new_string: "$&$1", replace_all: true })
  expect(content(root, "a")).toBe("$&$1.$&$1")
})

// C116
it("an edit or a write based on an older read is refused and changes nothing", async () => {
  const root = folder({ f: "v1" })
  const { text } = hands(root)
  await text("read", { file_path: "f" }, { threadId: "a" })
  await text("read", { file_path: "f" }, { threadId: "b" })
  await text("write", { file_path: "f", content: "v2 by b" }, { threadId: "b" })
  expect(await text("edit", { file_path: "f", old_string: "v", new_string: "w" }, { threadId: "a" })).toContain(
    "f, which has changed since"
  )
  expect(await text("write", { file_path: "f", content: "v2 by a" }, { threadId: "a" })).toContain(
    "f, which has changed since"
  )
  expect(content(root, "f")).toBe("v2 by b")
  expect(await text("write", { file_path: "f", content: "v3", overwrite: true }, { threadId: "a" })).toBe(
    "replaced f (2 bytes)"
  )
})

it("[D1] what a thread has read is remembered by its state, also by another process", async () => {
  const root = folder({ f: "v1" })
  const first = hands(root)
  const output = await first.call("read", { file_path: "f" })
  expect(output.state).toEqual([
    {
      _tag: "Set",
      scope: "Thread",
      key: "files_seen",
      merge: "Commutative",
      value: { f: (output.data as { version: string }).version }
    }
  ])
})

it("a file that exists and was never read is not overwritten", async () => {
  const root = folder({ f: "precious" })
  expect(await hands(root).text("write", { file_path: "f", content: "gone" })).toContain(
    "which exists and was not read"
  )
  expect(content(root, "f")).toBe("precious")
})

it("writing makes the folders, keeps the mode, and leaves no draft behind", async () => {
  const root = folder({ "run.sh": "#!/bin/sh\n" })
  fs.chmodSync(path.join(root, "run.sh"), 0o755)
  const { text } = hands(root)
  expect(await text("write", { file_path: "new/deep/a.txt", content: "a" })).toBe("created new/deep/a.txt (1 bytes)")
  await text("edit", { file_path: "run.sh", old_string: "sh\n", new_string: "sh\nexit\n" })
  expect(fs.statSync(path.join(root, "run.sh")).mode & 0o777).toBe(0o755)
  expect(fs.readdirSync(root).sort()).toEqual(["new", "run.sh"])
  expect(fs.readdirSync(path.join(root, "new/deep"))).toEqual(["a.txt"])
})

it("[R5] a write whose outcome is unknown has happened where the file holds what was to be written", async () => {
  const root = folder({ same: "new", other: "old" })
  const { tool } = hands(root)
  const { callOf, operation } = await import("./world.js")
  const ask = (file_path: string): unknown =>
    tool("write").reconcile?.(callOf(tool("write"), { file_path, content: "new" }), operation)
  expect([ask("same"), ask("other"), ask("none")]).toMatchObject([
    { _tag: "Happened" },
    { _tag: "Unknown" },
    { _tag: "Unknown" }
  ])
})

it("replacing a text by another and back gives the text one began with", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, mark, after) => {
      const fresh = `\u{e000}${mark}\u{e001}`
      const text = `${before}\u{e002}${after}`
      const there = replaceTexts(text, [{ old_string: "\u{e002}", new_string: fresh, replace_all: false, pointer: "" }])
      if (!there.ok) throw new Error("not found")
      const back = replaceTexts(there.text, [
        { old_string: fresh, new_string: "\u{e002}", replace_all: false, pointer: "" }
      ])
      expect(back).toMatchObject({ ok: true, text })
    })
  )
})

it("[T5] a text that overlaps itself occurs more than once, and is not guessed at", async () => {
  const root = folder({ "a.txt": "}\n}\n}\n" })
  const { text } = hands(root)
  const said = await text("edit", { file_path: "a.txt", old_string: "}\n}\n", new_string: "x\n" })
  expect(said).toContain("text that occurs 2 times (lines 1, 2)")
  expect(content(root, "a.txt")).toBe("}\n}\n}\n")
  await text("edit", { file_path: "a.txt", old_string: "}\n}\n", new_string: "x\n", replace_all: true })
  expect(content(root, "a.txt")).toBe("x\n}\n")
})

it("line ends that no edit touches stay, also where a carriage return stands before one", async () => {
  const root = folder({ "a.txt": "one\r\r\ntwo\r\nthree\r\n" })
  const { text } = hands(root)
  await text("edit", { file_path: "a.txt", old_string: "three", new_string: "3" })
  expect(content(root, "a.txt")).toBe("one\r\r\ntwo\r\n3\r\n")
})
