import { expect, it } from "vitest"
import { content, folder, hands, put } from "./folder.js"

const name = "a\nb\u001b[2J\u202e.txt"
const told = String.raw`"a\nb\u001b[2J\u{202e}.txt"`

it("[H8] what file tools say of a name cannot begin a line, move a cursor or turn the writing", async () => {
  const root = folder()
  const { call, text } = hands(root)
  expect(await text("write", { file_path: name, content: "one\n" })).toBe(`created ${told} (4 bytes)`)
  expect(await text("edit", { file_path: name, old_string: "one", new_string: "two" })).toContain(
    `edited ${told}: 1 replacement`
  )
  put(root, name, Buffer.from([0, 1]))
  expect(await text("read", { file_path: name })).toBe(`${told} is a binary file: 2 bytes`)
  const moved = await call("move", { source: name, destination: "c.txt" })
  expect(moved.data).toEqual({ source: name, destination: "c.txt" })
  expect(await text("move", { source: "c.txt", destination: name })).toBe(`moved c.txt to ${told}`)
  put(root, name, "changed")
  expect(await text("write", { file_path: name, content: "x" })).toContain(`${told}, which has changed`)
  expect(await text("delete", { path: name })).toBe(`deleted ${told}`)
})

it("[T5] a path that ends like a folder's is not written as a file", async () => {
  const root = folder({ "a.txt": "text" })
  const { text } = hands(root)
  expect(await text("write", { file_path: "new/", content: "x" })).toContain("one that ends with a slash")
  expect(await text("write", { file_path: "a.txt/", content: "x", overwrite: true })).toContain("refused")
  expect(content(root, "a.txt")).toBe("text")
})
