import { createHash } from "node:crypto"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Running, start, type StartOptions, weatherServer } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

const example = fileURLToPath(new URL("../example-project", import.meta.url))

let folder = ""
/** A copy of the example project that belongs to the test. */
let project = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
  project = join(folder, "project")
  cpSync(example, project, { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const work = (words: ReadonlyArray<string>, options: StartOptions = {}): Running =>
  start(["--offline", "--workspace", project, ...words], options)

const file = (name: string): string => readFileSync(join(project, name), "utf8")

/** Every file below, by its content. */
const treeOf = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")])
  )

it("threads are not kept where the commands of the folder could change them", async () => {
  symlinkSync(project, join(folder, "other-name"))
  for (const db of [join(project, "threads.db"), join(folder, "other-name", "threads.db")]) {
    const running = work(["--db", db, "read package.json"])
    expect((await running.finished).code).toBe(2)
    expect(running.soFar()).toContain("expected a file outside of the folder")
  }
  expect(existsSync(join(project, "threads.db"))).toBe(false)
})

describe("the bundled example", () => {
  it("is worked on as a scratch copy that is gone at the end; nothing else is written", async () => {
    const before = treeOf(example)
    const talk = start(["--offline"], { terminal: true, environment: { TMPDIR: folder } })
    await talk.shown("a scratch copy of the example project")
    await talk.shown("/quit")
    const [copy = ""] = readdirSync(folder).filter((name) => name.startsWith("toolwright-example-"))
    expect(talk.soFar()).toContain(join(folder, copy))
    talk.type("create made.txt with x\r")
    await talk.shown("Allow?")
    talk.type("y\r")
    await talk.shown("made.txt is written.")
    expect(existsSync(join(folder, copy, "made.txt"))).toBe(true)
    talk.type("/quit\r")
    expect((await talk.finished).code).toBe(0)
    expect(readdirSync(folder)).toEqual(["project"])
    expect(treeOf(example)).toEqual(before)
  })

  it("is gone after Ctrl-C in the middle of the start", async () => {
    const running = start(["--offline", "list"], { environment: { TMPDIR: folder } })
    const copies = (): ReadonlyArray<string> =>
      readdirSync(folder).filter((name) => name.startsWith("toolwright-example-"))
    await vi.waitFor(() => expect(copies()).toHaveLength(1), { timeout: 20_000, interval: 1 })
    running.interrupt()
    expect((await running.finished).code).toBe(130)
    expect(copies()).toEqual([])
  })

  it("is gone after a signal too", async () => {
    const server = await weatherServer({})
    try {
      const environment = { TMPDIR: folder, OPEN_METEO_URL: server.url }
      const running = start(["weather in Lisbon"], { environment })
      await running.shown("run      get_weather")
      running.end()
      expect((await running.finished).code).toBe(143)
      expect(readdirSync(folder).filter((name) => name.startsWith("toolwright-example-"))).toEqual([])
    } finally {
      server.close()
    }
  })

  it("is gone after Ctrl-C too, and stays where --keep asks for it", async () => {
    const talk = start(["--offline"], { terminal: true, environment: { TMPDIR: folder } })
    await talk.shown("/quit")
    talk.type("\u0003")
    expect((await talk.finished).code).toBe(130)
    expect(readdirSync(folder)).toEqual(["project"])
    const { out } = await start(["--offline", "--keep", "list"], { environment: { TMPDIR: folder } }).finished
    const kept = /The scratch copy stays in (\S+)/.exec(out)?.[1] ?? ""
    expect(readFileSync(join(kept, "package.json"), "utf8")).toBe(readFileSync(join(example, "package.json"), "utf8"))
  })
})

describe("a folder that was named", () => {
  it("is searched, listed and read", async () => {
    const { code, out } = await work(["find TODO in src, then list src, then read src/price.js"]).finished
    expect(code).toBe(0)
    expect(out).toContain("src/stock.js:5:  // TODO: order more where the rest is small.")
    expect(out).toContain("  receipt.js  ")
    expect(out).toContain("     7    return cups > 10 ? Math.round(full * 0.9) : full")
  })

  it("[T13] has its tests run in the sandbox, and what they say is told", async () => {
    const before = treeOf(project)
    const { code, out } = await work(["run the tests"]).finished
    expect(code).toBe(0)
    expect(out).toContain("1 of 7 tests fails:\n  - ten cups are a tenth cheaper: expected 2700, got 3000")
    expect(treeOf(project)).toEqual(before)
  })

  it("[H8] is mended by a change that is shown as a difference, and made after the yes", async () => {
    const before = file("src/price.js")
    const talk = work(["fix the failing test"], { terminal: true })
    await talk.shown("Allow? [y]es, [n]o")
    expect(talk.soFar()).toMatch(/change {7}from the file as it is now\s+@@ -4,7 \+4,7 @@/)
    expect(talk.soFar()).toContain("-  return cups > 10 ? Math.round(full * 0.9) : full")
    expect(talk.soFar()).toContain("+  return cups >= 10 ? Math.round(full * 0.9) : full")
    expect(file("src/price.js")).toBe(before)
    talk.type("y\r")
    await talk.shown("Fixed: in src/price.js, line 7, > becomes >=.")
    await talk.shown("All 7 tests pass.")
    expect((await talk.finished).code).toBe(0)
    expect(file("src/price.js")).toBe(before.replace("cups > 10", "cups >= 10"))
  })

  it("[H4] keeps its bytes after a no, and the model hears why", async () => {
    const before = treeOf(project)
    const talk = work(["replace Sum with Total in src/receipt.js"], { terminal: true })
    await talk.shown("Allow?")
    talk.type("n\r")
    await talk.shown("edit was denied: the person said no")
    expect((await talk.finished).code).toBe(0)
    expect(treeOf(project)).toEqual(before)
  })

  it("[H8] is shown anew where the file changed between the question and the yes", async () => {
    const talk = work(["write `mine` to new.txt"], { terminal: true })
    await talk.shown("a new file")
    await talk.shown("Allow?")
    writeFileSync(join(project, "new.txt"), "somebody else's\n")
    talk.type("y\r")
    await talk.shown("The file has changed meanwhile.")
    await talk.shown("-somebody else's")
    expect(file("new.txt")).toBe("somebody else's\n")
    talk.type("n\r")
    await talk.finished
    expect(file("new.txt")).toBe("somebody else's\n")
  })

  it("[H4] is changed as an edited call was shown, and not as the model asked", async () => {
    const talk = work(["write `mine` to new.txt"], { terminal: true })
    await talk.shown("Allow?")
    talk.type("e\r")
    await talk.shown("Arguments as JSON › ")
    // Empties the line first.
    talk.type('\u0015{"file_path":"new.txt","content":"ours\\n"}\r')
    await talk.shown("would run with these arguments instead:")
    await talk.shown("+ours")
    await talk.shown("Run this instead?")
    expect(existsSync(join(project, "new.txt"))).toBe(false)
    talk.type("y\r")
    expect((await talk.finished).code).toBe(0)
    expect(file("new.txt")).toBe("ours\n")
  })

  it("[H8] hides nothing in a difference: characters that nobody sees are written out", async () => {
    writeFileSync(join(project, "a.js"), "const admin = false\t\r\nconst user = 1\n")
    const talk = work(["replace `false` with `\u202etrue\u200b` in a.js"], { terminal: true })
    await talk.shown("Allow?")
    expect(talk.soFar()).toContain("-const admin = false⇥ ⟨U+000D⟩")
    expect(talk.soFar()).toContain("+const admin = ⟨U+202E⟩true⟨U+200B⟩⇥ ⟨U+000D⟩")
    talk.type("n\r")
    const { out } = await talk.finished
    expect(/[\u202e\u200b]/.test(out)).toBe(false)
  })

  it("[P5] shows the commands of a line and where they would run", async () => {
    const talk = work(["run `cd src`, then run `ls && rm price.js | cat`"], { terminal: true })
    await talk.shown("runs         cd src")
    talk.type("y\r")
    await talk.shown("in           src")
    await talk.shown(/runs {9}ls\s+rm price\.js\s+cat\s/)
    talk.type("n\r")
    await talk.finished
    expect(existsSync(join(project, "src/price.js"))).toBe(true)
  })

  it("is all that a command can write, whatever a person allows", async () => {
    const outside = join(folder, "outside")
    mkdirSync(outside)
    const script = `require('fs').writeFileSync('${outside}/x', 'x')`
    const talk = work([`run \`node -e "${script}" || touch made-inside\``], { terminal: true })
    await talk.shown("Allow?")
    talk.type("y\r")
    await talk.finished
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(project, "made-inside"))).toBe(true)
  })

  it("[T16] a question of the model is answered by number, and left alone where nobody is there", async () => {
    const talk = work(["replace TODO with LATER"], { terminal: true })
    await talk.shown("2            src/stock.js")
    talk.type("2\r")
    await talk.shown("Allow?")
    expect(talk.soFar()).toContain("file_path    src/stock.js")
    talk.type("y\r")
    expect((await talk.finished).code).toBe(0)
    expect(file("src/stock.js")).toContain("// LATER: order more")
    const { code, out } = await work(["replace cups with mugs"]).finished
    expect(code).toBe(0)
    expect(out).toContain("nobody is there to answer")
  })

  it("that is none, or one of the system's, is refused before anything runs", async () => {
    const wrong = async (...words: ReadonlyArray<string>) => {
      const { code, err } = await start(["--offline", ...words, "list"]).finished
      return { code, err }
    }
    expect(await wrong("--workspace", join(folder, "none"))).toEqual({
      code: 2,
      err: `toolwright demo: --workspace ${join(folder, "none")}: expected a folder that exists\n`
    })
    expect((await wrong("--workspace", "/usr")).err).toContain("/usr is a folder of the system")
    expect((await wrong("--workspace", project, "--keep")).err).toContain("there is no scratch copy")
  })
})

describe("plan mode", () => {
  it("[P6] lets nothing write, says so to the model, and the run goes on", async () => {
    const before = treeOf(project)
    const talk = work(["--plan", "delete src/stock.js, then run the tests, then find Sum"], { terminal: true })
    const { code, out } = await talk.finished
    expect(code).toBe(0)
    expect(out.match(/was blocked: plan mode: nothing/g)).toHaveLength(2)
    expect(out).not.toContain("Allow?")
    expect(talk.soFar()).toContain("In plan mode I only look. I would delete src/stock.js; “/plan off” lets me.")
    expect(talk.soFar()).toContain("src/receipt.js:10:")
    expect(treeOf(project)).toEqual(before)
  })

  it("[P6] begins and ends in a talk", async () => {
    const talk = work([], { terminal: true })
    await talk.shown("/quit")
    talk.type("/plan\r")
    await talk.shown("plan › ")
    talk.type("note: buy milk\r")
    await talk.shown("save_note was blocked: plan mode")
    talk.type("delete src/stock.js\r")
    await talk.shown("delete was blocked: plan mode")
    talk.type("/plan off\r")
    await talk.shown("Plan mode is off")
    talk.type("delete src/stock.js\r")
    await talk.shown("Allow?")
    talk.type("y\r")
    await talk.shown("src/stock.js is gone.")
    talk.type("/quit\r")
    expect((await talk.finished).code).toBe(0)
    expect(readdirSync(join(project, "src"))).toEqual(["price.js", "receipt.js"])
  })
})

describe("a machine without bubblewrap", () => {
  /** The same machine, with bubblewrap's place taken by something that cannot be started. */
  const under = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"]

  it("[T13] is told what is missing; the tools of the folder are refused, and the others work", async () => {
    const { code, out } = await work(["list, then run `touch made`, then 1 + 1"], { under }).finished
    expect(code).toBe(0)
    expect(out).toContain("the sandbox needs bubblewrap, and bwrap was not found")
    expect(out).toContain("apt-get install bubblewrap")
    expect(out).toContain("tool list runs in a sandbox, and there is none here")
    expect(out).toContain("tool bash runs in a sandbox, and there is none here")
    expect(out).toContain("1 + 1 is 2.")
    expect(existsSync(join(project, "made"))).toBe(false)
  })

  it("does without only where that is asked for, says so at each start, and asks about every call", async () => {
    const words = ["--unsafe-local", "read src/price.js"]
    for (const _ of [1, 2]) {
      const { out } = await work(words, { under }).finished
      expect(out).toContain("UNSAFE: tools run on this machine without a sandbox")
      expect(out).toContain("read was blocked: needs approval; nobody can give it")
    }
    const talk = work(words, { under, terminal: true })
    await talk.shown("read: may it run with these arguments?")
    await talk.shown("because      there is no sandbox: it may do all that you may")
    talk.type("y\r")
    await talk.shown("return cups > 10")
    expect((await talk.finished).code).toBe(0)
  })
})
