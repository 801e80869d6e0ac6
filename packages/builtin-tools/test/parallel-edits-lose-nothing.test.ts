import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { build } from "rolldown"
import { expect, it } from "vitest"
import { type RawTool, ToolConcurrency } from "@toolwright/runtime-contract"
import { fileTools, Workspace } from "../src/files.js"
import { heldKeys, withLock } from "../src/internal/pathLock.js"
import { callOf } from "./world.js"
import { content, folder, hands, put } from "./folder.js"

const claimOf = (tool: RawTool.RawTool, args: unknown): ToolConcurrency.ToolConcurrency =>
  tool.concurrency(callOf(tool, args).arguments)

const world = () => {
  const root = folder({ "src/Café.ts": "x", "other.ts": "y" })
  put(root, "linked", { link: "src" })
  put(root, "direct.ts", { link: "src/Café.ts" })
  return { root, ...hands(root) }
}

const spellings = (root: string): ReadonlyArray<string> => [
  "src/Café.ts",
  "./src//Café.ts",
  "src/../src/Café.ts",
  "linked/Café.ts",
  "linked/../src/Café.ts",
  "direct.ts",
  path.join(root, "src/Café.ts"),
  "SRC/café.TS",
  "src/Cafe\u0301.ts"
]

it("[C1] every spelling of one path conflicts with every other, and with no other file", () => {
  const { root, tool } = world()
  const claims = spellings(root).map((file_path) =>
    claimOf(tool("edit"), { file_path, old_string: "a", new_string: "b" })
  )
  const pairs = claims.flatMap((left) => claims.map((right) => ToolConcurrency.conflicts(left, right)))
  expect(new Set(pairs)).toEqual(new Set([true]))
  const other = claimOf(tool("write"), { file_path: "other.ts", content: "" })
  expect(claims.map((claim) => ToolConcurrency.conflicts(claim, other))).toEqual(claims.map(() => false))
})

it("[C1] reads run beside reads, an edit waits for a read of its file, a deleted folder for everything in it", () => {
  const { tool } = world()
  const read = claimOf(tool("read"), { file_path: "src/Café.ts" })
  const again = claimOf(tool("read"), { file_path: "linked/Café.ts" })
  const edit = claimOf(tool("edit"), { file_path: "direct.ts", old_string: "a", new_string: "b" })
  const search = claimOf(tool("grep"), { pattern: "x" })
  const gone = claimOf(tool("delete"), { path: "src", recursive: true })
  const moved = claimOf(tool("move"), { source: "other.ts", destination: "src/other.ts" })
  const meet = (left: ToolConcurrency.ToolConcurrency, right: ToolConcurrency.ToolConcurrency): boolean =>
    ToolConcurrency.conflicts(left, right)
  expect([meet(read, again), meet(read, edit), meet(search, edit), meet(search, read)]).toEqual([
    false,
    true,
    false,
    false
  ])
  expect([meet(gone, read), meet(gone, edit), meet(gone, search), meet(gone, moved)]).toEqual([true, true, false, true])
})

it("[C1] claims are computed for paths that do not exist, lead out or are no paths", () => {
  const { tool } = world()
  for (const file_path of ["new/a", "../x", "\0", "/", ".", "x".repeat(4096), "other.ts/a"])
    expect(claimOf(tool("write"), { file_path, content: "" })._tag).toBe("Resources")
})

// C115
it("parallel edits of one file under any spelling all arrive, and the file is never shorter or empty meanwhile", async () => {
  const { root, text } = world()
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
  for (let round = 0; round < 10; round++) {
    fs.writeFileSync(path.join(root, "src/Café.ts"), `${lines.join("\n")}\n`)
    const sizes = new Set<number>()
    const watch = setInterval(() => sizes.add(content(root, "src/Café.ts").length), 0)
    const names = ["src/Café.ts", "linked/Café.ts", "direct.ts", path.join(root, "src/Café.ts")]
    const made = await Promise.all(
      names.map((file_path, index) =>
        text(
          "edit",
          { file_path, old_string: `line ${index * 20 + 10}\n`, new_string: `line ${index * 20 + 10} by ${index}\n` },
          { threadId: `t${round}` }
        )
      )
    )
    clearInterval(watch)
    expect(made.map((one) => one.slice(0, 6))).toEqual(["edited", "edited", "edited", "edited"])
    expect(content(root, "src/Café.ts").match(/ by \d/g)).toEqual([" by 0", " by 1", " by 2", " by 3"])
    expect(Math.min(...sizes, Number.MAX_SAFE_INTEGER)).toBeGreaterThanOrEqual(`${lines.join("\n")}\n`.length)
  }
})

it("edits from two processes' worth of tools never lose one: the loser is told", async () => {
  const root = folder({ f: "0" })
  const sets = [hands(root, fileTools(Workspace.open(root))), hands(root, fileTools(Workspace.open(root)))]
  let wins = 0
  for (let round = 0; round < 20; round++) {
    const texts = await Promise.all(
      sets.map(async ({ text }, index) => {
        await text("read", { file_path: "f" }, { threadId: `t${index}` })
        const now = content(root, "f")
        return text(
          "edit",
          { file_path: "f", old_string: now, new_string: `${now}${index}` },
          { threadId: `t${index}` }
        )
      })
    )
    wins += texts.filter((one) => one.startsWith("edited")).length
    expect(texts.every((one) => /^edited|changed|does not/.test(one))).toBe(true)
  }
  expect(content(root, "f").length).toBe(1 + wins)
})

it("a failed edit releases its file", async () => {
  const { text } = world()
  const edits = ["nowhere", "x"].map((old_string) =>
    text("edit", { file_path: "direct.ts", old_string, new_string: "z" })
  )
  expect((await Promise.all(edits)).map((one) => one.slice(0, 6))).toEqual(["refuse", "edited"])
  expect(heldKeys()).toBe(0)
})

it("[L3] an edit that is aborted while it waits leaves the queue, changes nothing and holds up nobody", async () => {
  const { root, text } = world()
  let release = (): void => {}
  const workspace = Workspace.open(root)
  const holding = withLock(Workspace.keyOf(workspace, ["other.ts"]), {
    signal: new AbortController().signal,
    work: () => new Promise<void>((resolve) => (release = resolve))
  })
  const controller = new AbortController()
  const edit = { file_path: "other.ts", old_string: "y", new_string: "z" }
  const aborted = text("edit", edit, { signal: controller.signal })
  const next = text("edit", { ...edit, new_string: "w" })
  controller.abort(new Error("cancelled"))
  expect(await aborted).toBe("refused: cancelled")
  expect(content(root, "other.ts")).toBe("y")
  release()
  await holding
  expect((await next).slice(0, 6)).toBe("edited")
  expect([content(root, "other.ts"), heldKeys()]).toEqual(["w", 0])
})

it("processes that replace one file at the same time lose nothing", async () => {
  const root = folder({ f: "" })
  const program = path.join(folder(), "editor.mjs")
  await build({
    input: path.join(import.meta.dirname, "editor.ts"),
    platform: "node",
    output: { file: program, format: "esm" },
    logLevel: "silent"
  })
  const ends = ["a", "b", "c"].map((letter) => {
    const child = spawn(process.execPath, [program, root, letter, "60"], { stdio: "inherit" })
    return new Promise((resolve) => child.once("exit", resolve))
  })
  fs.writeFileSync(path.join(root, "go"), "")
  expect(await Promise.all(ends)).toEqual([0, 0, 0])
  const counts = ["a", "b", "c"].map((letter) => content(root, "f").split(letter).length - 1)
  expect(counts).toEqual([60, 60, 60])
  expect(fs.readdirSync(root).sort()).toEqual(["f", "go"])
}, 60_000)

it("a file is not replaced while another process compares it, and what that one made of it is seen", async () => {
  const { root, text } = world()
  const lock = path.join(root, ".other.ts.toolwright-lock")
  fs.writeFileSync(lock, "")
  let isDone = false
  const edited = text("edit", { file_path: "other.ts", old_string: "y", new_string: "z" }).finally(
    () => (isDone = true)
  )
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
  expect([isDone, content(root, "other.ts")]).toEqual([false, "y"])
  fs.writeFileSync(path.join(root, "other.ts"), "theirs")
  fs.rmSync(lock)
  expect(await edited).toContain("one that changed just now")
  expect([content(root, "other.ts"), fs.readdirSync(root).filter((name) => name.startsWith("."))]).toEqual([
    "theirs",
    []
  ])
})

it("a lock that a dead process left is broken, and one that is waited for can be given up", async () => {
  const { root, text } = world()
  const lock = path.join(root, ".other.ts.toolwright-lock")
  fs.writeFileSync(lock, "")
  const controller = new AbortController()
  const edit = { file_path: "other.ts", old_string: "y", new_string: "z" }
  const waiting = text("edit", edit, { signal: controller.signal })
  await new Promise(setImmediate)
  controller.abort(new Error("cancelled"))
  expect(await waiting).toBe("refused: cancelled")
  const longAgo = new Date(Date.now() - 60_000)
  fs.utimesSync(lock, longAgo, longAgo)
  expect((await text("edit", edit)).slice(0, 6)).toBe("edited")
  expect([content(root, "other.ts"), fs.readdirSync(root).filter((name) => name.startsWith("."))]).toEqual(["z", []])
})
