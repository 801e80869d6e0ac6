import * as fs from "node:fs"
import { execFileSync } from "node:child_process"
import * as path from "node:path"
import { expect, it } from "vitest"
import { content, folder, hands } from "./folder.js"

const png = Buffer.from("89504e470d0a1a0a0000000d", "hex")

it("[T9] reading gives numbered lines, and what was read as data", async () => {
  const { call } = hands(folder({ "a.txt": "one\ntwo\nthree\n" }))
  const { content: blocks, data, isError } = await call("read", { file_path: "a.txt", offset: 2, limit: 1 })
  expect({ blocks, data, isError }).toEqual({
    blocks: [{ type: "text", text: "2\ttwo\n(lines 2 to 2 of 3; go on with offset 3)" }],
    data: {
      file_path: "a.txt",
      kind: "text",
      size: 14,
      version: "b6285c57e8797db5d4c51c80d6f11938",
      first_line: 2,
      last_line: 2,
      total_lines: 3
    },
    isError: false
  })
})

it("[T10] an image is shown as an image and never as text", async () => {
  const { call } = hands(folder({ "a.png": png }))
  const { content: blocks } = await call("read", { file_path: "a.png" })
  expect(blocks).toEqual([{ type: "image", mediaType: "image/png", data: png.toString("base64") }])
})

it("a binary file is described and not decoded", async () => {
  const { text } = hands(folder({ "a.bin": Buffer.from([1, 0, 2]), "b.bin": Buffer.from([0xc3, 0x28]) }))
  expect(await text("read", { file_path: "a.bin" })).toBe("a.bin is a binary file: 3 bytes")
  expect(await text("read", { file_path: "b.bin" })).toBe("b.bin is a binary file: 2 bytes")
})

it("[T10] a part that is too long ends between lines, and a long line never in half a character", async () => {
  const { text } = hands(folder({ long: `${"x".repeat(1999)}😀tail\n`, many: "0123456789\n".repeat(10_000) }))
  expect(await text("read", { file_path: "long" })).toBe(`1\t${"x".repeat(1999)}… (6 more characters)`)
  const many = await text("read", { file_path: "many" })
  expect(many.slice(many.lastIndexOf("\n2000"))).toBe(
    "\n2000\t0123456789\n(lines 1 to 2000 of 10000; go on with offset 2001)"
  )
})

it("UTF-16 and a byte order mark are read as text, and an edit keeps the form of the file", async () => {
  const root = folder({
    "w.txt": Buffer.from("\ufeffone\r\ntwo\r\n", "utf16le"),
    "b.txt": "\ufeffone\r\ntwo\r\n"
  })
  const { text } = hands(root)
  expect(await text("read", { file_path: "w.txt" })).toBe("1\tone\n2\ttwo")
  await text("edit", { file_path: "w.txt", old_string: "one\ntwo", new_string: "1\n2" })
  await text("edit", { file_path: "b.txt", old_string: "one\ntwo", new_string: "1\n2" })
  expect(fs.readFileSync(path.join(root, "w.txt")).toString("utf16le")).toBe("\ufeff1\r\n2\r\n")
  expect(content(root, "b.txt")).toBe("\ufeff1\r\n2\r\n")
})

it.each([
  ["missing.txt", "a file that exists"],
  ["sub", "a plain file"],
  ["pipe", "a plain file"],
  [".", "a plain file"],
  ["big", "a file of at most 10485760 bytes"],
  ["a.txt/b", "a path whose parent is a directory"],
  ["\0", "a usable file name"]
])("[T5] reading %j is refused with what was expected: %s", async (file_path, expected) => {
  const root = folder({ "a.txt": "a", "sub/b": "b" })
  execFileSync("mkfifo", [path.join(root, "pipe")])
  fs.truncateSync(path.join(root, "a.txt"), 1)
  fs.closeSync(fs.openSync(path.join(root, "big"), "w"))
  fs.truncateSync(path.join(root, "big"), 10 * 1024 * 1024 + 1)
  const { text } = hands(root)
  expect(await text("read", { file_path })).toContain(expected)
})
