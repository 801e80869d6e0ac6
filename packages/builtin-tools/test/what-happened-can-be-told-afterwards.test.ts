import * as fs from "node:fs"
import * as path from "node:path"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type RawTool, ToolOutput } from "@toolwright/runtime-contract"
import { replacementsMade } from "../src/internal/reversedEdit.js"
import { replaceTexts } from "../src/internal/replaceTexts.js"
import { content, folder, hands, put } from "./folder.js"

/** The data of what was adopted, else the answer's name. */
const told = (answer: RawTool.Reconciliation): unknown =>
  answer._tag === "Happened" ? answer.output.data : answer._tag

/** Makes the call in a process that dies before its answer is committed. */
const lost = async (root: string, id: string, args: unknown): Promise<void> => {
  expect(ToolOutput.text(await hands(root).call(id, args))).not.toContain("refused")
}

describe("edit", () => {
  const args = { file_path: "a.txt", old_string: "two", new_string: "TWO" }

  it("[R5] that was made is told from one that was not, and from what somebody else did", async () => {
    const root = folder({ "a.txt": "one\ntwo\nthree\n" })
    const own = hands(root)
    expect(told(await own.found("edit", args))).toBe("Unknown")
    await own.call("read", { file_path: "a.txt" })
    expect(told(await own.found("edit", args))).toBe("NotSent")
    await lost(root, "edit", args)
    expect(told(await own.found("edit", args))).toMatchObject({ file_path: "a.txt", replacements: 1 })
    put(root, "a.txt", "one\nTWO\nthree\nfour\n")
    expect(told(await own.found("edit", args))).toBe("Unknown")
    fs.rmSync(path.join(root, "a.txt"))
    expect(told(await own.found("edit", args))).toBe("Unknown")
  })

  it.each([
    ["a text that stands elsewhere too", "TWO\ntwo\nTWO\n", args],
    ["a text that is taken out", "one\ntwo\nthree\n", { ...args, new_string: "" }],
    ["every occurrence", "two two\ntwo", { ...args, replace_all: true }],
    ["line ends of two characters and a mark", "\ufeffone\r\ntwo\r\n", args],
    [
      "several edits at once",
      "one\ntwo\nthree\n",
      {
        file_path: "a.txt",
        edits: [
          { old_string: "one", new_string: "two" },
          { old_string: "three", new_string: "" },
          { old_string: "two\ntwo", new_string: "four" }
        ]
      }
    ]
  ])("[R5] is recognised for %s", async (_, before, given) => {
    const root = folder({ "a.txt": before })
    const own = hands(root)
    await own.call("read", { file_path: "a.txt" })
    await lost(root, "edit", given)
    expect((await own.found("edit", given))._tag).toBe("Happened")
  })

  it("[R5] is never claimed of a text that the edits did not make of the one that was read", () => {
    const text = fc.stringMatching(/^[ab\n]{0,12}$/)
    const edit = fc.record({
      old_string: fc.stringMatching(/^[ab\n]{1,3}$/),
      new_string: fc.stringMatching(/^[abc\n]{0,3}$/),
      replace_all: fc.boolean(),
      pointer: fc.constant("")
    })
    fc.assert(
      fc.property(text, text, fc.array(edit, { minLength: 1, maxLength: 3 }), (before, other, edits) => {
        const made = replaceTexts(before, edits)
        const count = (now: string) => replacementsMade(now, { edits, isBefore: (one) => one === before })
        const isOnce = made.ok && edits.every((one) => !one.replace_all)
        const isOther = !made.ok || made.text !== other
        const wrong = [
          ...(isOnce && count(made.text) !== made.count ? ["not recognised"] : []),
          ...(isOther && count(other) !== undefined ? ["recognised wrongly"] : [])
        ]
        expect(wrong).toEqual([])
      }),
      { numRuns: 500 }
    )
  })
})

it("[R5] a write that was made is told by what the file holds", async () => {
  const root = folder({ "a.txt": "old" })
  const args = { file_path: "a.txt", content: "new", overwrite: true }
  const own = hands(root)
  expect(told(await own.found("write", args))).toBe("Unknown")
  await own.call("read", { file_path: "a.txt" })
  expect(told(await own.found("write", args))).toBe("NotSent")
  await lost(root, "write", args)
  expect(told(await own.found("write", args))).toMatchObject({ file_path: "a.txt", size: 3 })
})

it("[R5] a move of a file that was read is told by where its content is", async () => {
  const root = folder({ "a.txt": "text" })
  const args = { source: "a.txt", destination: "b/c.txt" }
  const own = hands(root)
  expect(told(await own.found("move", args))).toBe("Unknown")
  await own.call("read", { file_path: "a.txt" })
  expect(told(await own.found("move", args))).toBe("NotSent")
  await lost(root, "move", args)
  expect(told(await own.found("move", args))).toEqual({ source: "a.txt", destination: "b/c.txt" })
  put(root, "b/c.txt", "other")
  expect(told(await own.found("move", args))).toBe("Unknown")
})

it("[R5] a deletion of a file that was read is told by its absence", async () => {
  const root = folder({ "a.txt": "text", "b.txt": "text" })
  const own = hands(root)
  expect(told(await own.found("delete", { path: "a.txt" }))).toBe("Unknown")
  await own.call("read", { file_path: "a.txt" })
  expect(told(await own.found("delete", { path: "a.txt" }))).toBe("NotSent")
  await lost(root, "delete", { path: "a.txt" })
  expect(told(await own.found("delete", { path: "a.txt" }))).toEqual({ path: "a.txt", deleted: 1 })
  // Never read: that it is gone may be older than the call.
  fs.rmSync(path.join(root, "b.txt"))
  expect(told(await own.found("delete", { path: "b.txt" }))).toBe("Unknown")
})

it("what was known of a file goes with it when it is moved, and is forgotten when it is deleted", async () => {
  const root = folder({ "a.txt": "text" })
  const own = hands(root)
  await own.call("read", { file_path: "a.txt" })
  await own.call("move", { source: "a.txt", destination: "b.txt" })
  expect(await own.text("write", { file_path: "b.txt", content: "more" })).toBe("replaced b.txt (4 bytes)")
  await own.call("delete", { path: "b.txt" })
  put(root, "b.txt", "somebody's")
  expect(await own.text("write", { file_path: "b.txt", content: "x" })).toContain("changed since it was read")
  expect(content(root, "b.txt")).toBe("somebody's")
})
