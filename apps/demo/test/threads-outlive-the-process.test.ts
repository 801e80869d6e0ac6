import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { framesOf, WireServer } from "@toolwright/model-server"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Running, start, type StartOptions } from "./world.js"

// Each of these waits for several processes and for the lease of a dead one.
vi.setConfig({ testTimeout: 60_000 })

const example = fileURLToPath(new URL("../example-project", import.meta.url))

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The demo on the file of this test. */
const demo = (words: ReadonlyArray<string>, options: StartOptions = {}): Running =>
  start(["--offline", "--notes", join(folder, "notes"), "--db", join(folder, "threads.db"), ...words], options)

const shoppingList = (): string => {
  const file = join(folder, "notes", "shopping-list.txt")
  return existsSync(file) ? readFileSync(file, "utf8") : ""
}

const notes = (): ReadonlyArray<string> =>
  existsSync(join(folder, "notes"))
    ? readdirSync(join(folder, "notes")).map((file) => readFileSync(join(folder, "notes", file), "utf8"))
    : []

/** Dies, by its own hand, at a point of the first run. */
const dies = async (point: string, request: string, keys: ReadonlyArray<readonly [string, string]> = []) => {
  const process = demo(["--crash-at", point, request], { terminal: keys.length > 0 })
  for (const [shown, key] of keys) {
    await process.shown(shown)
    process.type(key)
  }
  const { code, out, err } = await process.finished
  expect(`${out}${err}`).toContain(`killed at ${point}, as asked`)
  expect(code === 0).toBe(false)
}

describe("a process that dies", () => {
  it("[D4] loses nothing that was committed: what was done is not repeated, and the run comes to its end", async () => {
    await dies("publish.afterCommit", "weather in Lisbon, then 1 + 1")
    const { code, out } = await demo([]).finished
    expect(code).toBe(0)
    expect(out).toContain("was cut off: “weather in Lisbon, then 1 + 1”")
    expect(out).toContain("get_weather: done and answered; not repeated")
    expect(out).not.toContain("run      get_weather")
    expect(out).toContain("Lisbon: 16 °C")
    expect(out).toContain("1 + 1 is 2.")
    expect(out).toMatch(/Recovered thread \w{8}: done\./)
  })

  it("[R8] in a call that is safe to repeat: it runs again as the same operation", async () => {
    await dies("dispatch.after", "weather in Lisbon")
    const { out } = await demo([]).finished
    expect(out).toContain("it is safe to repeat, and runs again as the same operation")
    expect(out).toContain("run      get_weather  attempt 2 of the same operation")
    expect(out).toContain("Lisbon: 16 °C")
  })

  it("[R8] [N2] in the middle of work on a folder: it goes on there, with the tools as they were pinned", async () => {
    const project = join(folder, "project")
    cpSync(example, project, { recursive: true })
    const work = ["--workspace", project]
    expect((await demo([...work, "--crash-at", "dispatch.after", "run the tests"]).finished).code === 0).toBe(false)
    const { code, out } = await demo(work).finished
    expect(code).toBe(0)
    expect(out).toContain("run      read  attempt 2 of the same operation")
    expect(out).toContain("1 of 7 tests fails:")
  })

  it("[R8] [R12] in a call that is not: it may have happened, is not repeated, and a person says what is true", async () => {
    await dies("outcome.known", "add milk to the list", [["Allow?", "y\r"]])
    expect(shoppingList()).toBe("milk\n")

    const next = demo([], { terminal: true })
    await next.shown("nobody saw how it ended, and it")
    await next.shown("may have happened; it is not repeated")
    await next.shown("I do not know what became of add_to_list")
    await next.shown("Did it? [h]appened, [d]id not happen")
    next.type("l\r")
    await next.shown("It stays open")
    await next.shown("/quit")
    next.type("add milk to the list\r")
    await next.shown("the same call of add_to_list may already have happened")
    next.type("n\r")
    await next.shown(/entry added for “milk”[^›]*no\.[^›]*› /)
    next.type("/settle\r")
    await next.shown(/settle asks again[^]*Did it\?[^›]*› /)
    next.type("happened\r")
    await next.shown("Written down: it happened.")
    next.type("/quit\r")
    expect((await next.finished).code).toBe(0)
    expect(shoppingList()).toBe("milk\n")

    const { out } = await demo(["--threads"]).finished
    expect(out).not.toContain("may have happened")
  })

  it("[H4] behind an approval: the call runs after the restart, once, and nobody is asked again", async () => {
    await dies("signal.accepted", "add milk to the list", [["Allow?", "y\r"]])
    expect(shoppingList()).toBe("")
    const { out } = await demo([]).finished
    expect(out).toContain("“milk” is on the list")
    expect(shoppingList()).toBe("milk\n")
  })

  it("[H1] before an approval: the question is there after the restart, and can be answered", async () => {
    await dies("open.afterCommit", "note: buy milk", [["buy milk", ""]])
    const seen = await demo([]).finished
    expect(seen.out).toMatch(/Thread \w{8} waits for an answer .*save_note \{"text":"buy milk"\}/)

    const next = demo(["--continue"], { terminal: true })
    await next.shown("Allow?")
    expect(notes()).toEqual([])
    next.type("y\r")
    await next.shown("The note is saved in")
    next.type("/quit\r")
    expect((await next.finished).code).toBe(0)
    expect(notes()).toEqual(["buy milk\n"])
  })
})

describe("threads in a file", () => {
  it("[D3] are listed, and gone on with by the beginning of their id or as the newest", async () => {
    expect((await demo(["1 + 1"]).finished).code).toBe(0)
    const listed = (await demo(["--threads"]).finished).out
    const id = /^ {2}(\w{8}) .* done {2}“1 \+ 1”/m.exec(listed)?.[1] ?? ""
    expect((await demo(["--json", "--thread", id, "2 + 2"]).finished).out).toContain('"text": "2 + 2 is 4."')
    const { out } = await demo(["--json", "--continue", "3 + 3"]).finished
    const { messages, threadId } = JSON.parse(out) as { messages: ReadonlyArray<{ role: string }>; threadId: string }
    expect(threadId.startsWith(id)).toBe(true)
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(3)
  })

  it("[P7] an option that needs a file, or a thread that is not there, is named", async () => {
    expect((await start(["--threads"]).finished).err).toBe("toolwright demo: --threads: expected --db FILE beside it\n")
    expect((await demo(["--thread", "zz"]).finished).err).toBe(
      "toolwright demo: thread zz: there is no such thread; --threads lists them\n"
    )
    expect((await demo(["--continue"]).finished).code).toBe(2)
    expect((await demo(["--crash-at", "lunch"]).finished).err).toContain("--crash-at lunch: expected one of claimed,")
  })
})

describe("a second terminal on the same file", () => {
  it("[L8] cancels a run that another process drives", async () => {
    const server = await WireServer.start()
    try {
      server.reply({ frames: [], afterwards: "stall" })
      const environment = { OPENAI_BASE_URL: server.url }
      const first = demo(["--model", "local:m", "anything"], { environment })
      await server.request(0)
      const cancelled = await demo(["--cancel"]).finished
      expect([cancelled.code, cancelled.out]).toEqual([0, "  The other process was told to cancel the run.\n"])
      const { code, out } = await first.finished
      expect(code).toBe(1)
      expect(out).toContain("The run ended: it was cancelled.")
      expect((await demo(["--cancel"]).finished).out).toContain("has no open run")
    } finally {
      await server.close()
    }
  })

  it("[L8] steers a run that another process drives: the model sees it behind the results of its step", async () => {
    const server = await WireServer.start()
    try {
      const call = { id: "c1", name: "save_note", arguments: '{"text":"hi"}' }
      server.reply({ frames: framesOf("chat", { calls: [call] }) })
      const first = demo(["--model", "local:m", "anything"], {
        terminal: true,
        environment: { OPENAI_BASE_URL: server.url }
      })
      await first.shown("Allow?")
      expect((await demo(["--steer", "say it in French"]).finished).out).toContain("waits for an answer first")
      server.reply({ frames: framesOf("chat", { text: "Oui." }) })
      first.type("y\r")
      expect((await first.finished).out).toContain("Oui.")
      const { messages } = (await server.request(1)).body as {
        messages: ReadonlyArray<{ role: string; content: unknown }>
      }
      expect(messages.slice(-2).map(({ role }) => role)).toEqual(["tool", "user"])
      expect(JSON.stringify(messages.at(-1)?.content)).toContain("say it in French")
    } finally {
      await server.close()
    }
  })

  it("[H3] answers what the first one is asked, which then shows what follows", async () => {
    const first = demo([], { terminal: true })
    await first.shown("/quit")
    first.type("note: buy milk\r")
    await first.shown("Allow?")
    const second = demo(["--continue"], { terminal: true })
    await second.shown("Allow?")
    second.type("n\r")
    await first.shown("Answered elsewhere")
    await first.shown("I have no note saved: save_note was denied: the person said no.")
    await second.shown("/quit")
    second.type("/quit\r")
    first.type("/quit\r")
    expect([(await first.finished).code, (await second.finished).code]).toEqual([0, 0])
    expect(notes()).toEqual([])
  })
})
