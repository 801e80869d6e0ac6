import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { SqliteDriver } from "@toolwright/store-sqlite"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Finished, start, type StartOptions } from "./world.js"

// Some of these wait for several processes and for the lease of a dead one.
vi.setConfig({ testTimeout: 60_000 })

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const demo = (words: ReadonlyArray<string>, options: StartOptions = {}) =>
  start(["--offline", "--notes", join(folder, "notes"), "--db", join(folder, "threads.db"), ...words], options)

/** Types `key` when `shown` is there, in turn. */
const answered = async (words: ReadonlyArray<string>, keys: ReadonlyArray<readonly [string, string]>) => {
  const talk = demo(words, { terminal: true })
  for (const [shown, key] of keys) {
    await talk.shown(shown)
    talk.type(key)
  }
  await talk.finished
}

/** The lines of a record without what differs each time. */
const told = ({ out }: Finished): ReadonlyArray<string> =>
  out
    .split("\n")
    .map((line) =>
      line
        .trim()
        .replace(/^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z /, "")
        .replaceAll(/[0-9a-f]{32}/g, "ID")
        .replaceAll(/run [0-9a-f]{8}/g, "run ID")
    )
    .filter((line) => line !== "")

const sealed = (records: number): RegExp =>
  records === 1
    ? /^The decision is as written\. Head \w+$/
    : new RegExp(`^The ${records} decisions are as written\\. Head \\w+$`)

const digestOf = (line: string | undefined): string => /\(([0-9a-f]{12})\)/.exec(line ?? "")?.[1] ?? ""

/** Changes the one commit that holds `from`. `mends`: with a checksum that fits, as an intruder who knows the file would. */
const bend = (from: string, to: string, { mends }: { readonly mends: boolean }): void => {
  const connection = SqliteDriver.installed().open(join(folder, "threads.db"))
  const rows = connection.prepare("SELECT key, record FROM thread_commit").all()
  const found = rows.filter(({ record }) => String(record).includes(from))
  expect(found.length).toBe(1)
  for (const { key, record } of found) {
    const text = String(record).replace(from, to)
    connection.prepare("UPDATE thread_commit SET record = ? WHERE key = ?").run(text, key ?? 0)
    if (mends) connection.prepare("UPDATE thread_commit SET checksum = ? WHERE key = ?").run(crc32(text), key ?? 0)
  }
  connection.close()
}

describe("the record of a thread", () => {
  it("[H3] [H4] says who asked what, which rule decided, who approved which digest, and what ran", async () => {
    await answered(
      ["note: buy milk"],
      [
        ["Allow?", "e\r"],
        ['Arguments as JSON › {"text":"buy milk"}', `${"\u007f".repeat(6)}tea"}\r`],
        ["Run this instead?", "y\r"]
      ]
    )
    const { code, out, err } = await demo(["--audit"]).finished
    const lines = told({ code, out, err })
    const [before, after] = [digestOf(lines[4]), digestOf(lines[6])]
    expect(before === after).toBe(false)
    expect(lines.slice(0, -1)).toEqual([
      "Thread ID: done",
      "run ID for you",
      "asked: “note: buy milk”",
      '1.1 save_note requested: {"text":"buy milk"}',
      `1.1 save_note (${before}) must be approved by gate demo, rule ask save_note: it writes a file`,
      "ticket ID/1/0:Permission:0 for save_note waits for an answer",
      `1.1 save_note (${after}) must be approved by gate demo, rule ask save_note: it writes a file`,
      `1.1 save_note (${before}) answer Edited by you to (${after})`,
      `1.1 save_note (${after}) approved by you, changed to {"text":"buy tea"}`,
      `1.1 save_note (${after}) started, attempt 1`,
      `1.1 save_note (${after}) completed`,
      "run ended: NaturalEnd"
    ])
    expect(lines.at(-1)).toMatch(sealed(3))
    expect(code).toBe(0)
  })

  it("[H7] [R8] tells a remembered rule, a denial, and what may have happened in a crash", async () => {
    await answered(
      ["note: buy honey"],
      [
        ["Allow?", "a\r"],
        ["Remember this rule?", "y\r"]
      ]
    )
    await demo(["note: my password is x"]).finished
    await answered(["--crash-at", "outcome.known", "add milk to the list"], [["Allow?", "y\r"]])
    await demo([]).finished
    const { code, out } = await demo(["--audit"]).finished
    expect(out).toMatch(/save_note \(\w{12}\) rule given by you: save_note\(= \{"text":"buy honey"\}\) \(grant-\w+\)/)
    expect(out).toMatch(/save_note \(\w{12}\) blocked by gate demo, rule deny save_note\(text ~ "\*password\*"\)/)
    expect(out).toMatch(/save_note \(\w{12}\) did not run: Blocked/)
    expect(out).toMatch(/add_to_list \(\w{12}\) after a crash: may have happened; it is not repeated/)
    expect(out).toMatch(/add_to_list \(\w{12}\) may have happened: ProcessLost/)
    expect(code).toBe(0)
  })

  it("[D2] is checked: a changed byte is told with its row, and the other threads are shown all the same", async () => {
    await demo(["note: my password is x"]).finished
    await demo(["1 + 1"]).finished
    bend('"outcome":"Block"', '"outcome":"Allow"', { mends: false })
    const { code, out } = await demo(["--audit"]).finished
    expect(out).toMatch(
      /UNREADABLE: [^]*thread_commit\s\w{32}\srevision\s\d+:\sthe\stext\sdiffers\sfrom\sits\schecksum/
    )
    expect(out).toContain("asked: “1 + 1”")
    expect(code).toBe(1)
  })

  it("[D2] tells of a damaged last record, and shows and lists the other threads all the same", async () => {
    await demo(["note: my password is x"]).finished
    await demo(["1 + 1"]).finished
    const connection = SqliteDriver.installed().open(join(folder, "threads.db"))
    connection.exec(
      "UPDATE thread_commit SET record = record || ' ' WHERE key = (SELECT max(key) FROM thread_commit WHERE thread = 1)"
    )
    connection.close()
    const audit = await demo(["--audit"]).finished
    expect(audit.out).toMatch(/UNREADABLE: [^]*the\stext\sdiffers\sfrom\sits\schecksum/)
    expect(audit.out).toContain("asked: “1 + 1”")
    expect(audit.code).toBe(1)
    const listed = await demo(["--threads"]).finished
    expect(listed.out).toMatch(/(\w{8}) {2}cannot be read; --audit \1 says where and why/)
    expect(listed.out).toContain("“1 + 1”")
    expect(listed.code).toBe(0)
  })

  it("[D2] is chained: a decision that was changed together with its checksum is told with its facts", async () => {
    await demo(["note: my password is x"]).finished
    bend('"outcome":"Block"', '"outcome":"Allow"', { mends: true })
    const { code, out } = await demo(["--audit"]).finished
    expect(out).toContain("CHANGED: a decision between facts 1 and 4 is not the one that was written")
    expect(code).toBe(1)
  })

  it("[D3] is only looked at: a file that does not exist is not made, and a thread that does not is told", async () => {
    expect(await demo(["--audit"]).finished).toEqual({
      code: 2,
      out: "",
      err: `toolwright demo: --db ${join(folder, "threads.db")}: expected a file that exists\n`
    })
    await demo(["1 + 1"]).finished
    const { code, err } = await demo(["--audit", "nothing"]).finished
    expect([code, err]).toEqual([
      2,
      "toolwright demo: --audit nothing: there is no such thread; --threads lists them\n"
    ])
  })
})
