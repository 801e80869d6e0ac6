import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { erase } from "../src/index.js"
import { fileTools, grep, Workspace } from "../src/files.js"
import { findRipgrep } from "../src/internal/ripgrep.js"
import { content, folder, hands } from "./folder.js"

const files = {
  ".gitignore": "*.log\n/build\n!keep.log\n",
  "src/a.ts": "const alpha = 1\nconst beta = 2\n",
  "src/b.js": "alpha()\r\n",
  "src/.hidden": "alpha\n",
  "src/deep/.gitignore": "private\n",
  "src/deep/private/c.ts": "alpha\n",
  "src/deep/d.ts": "Alpha\n",
  "build/out.js": "alpha\n",
  "x.log": "alpha\n",
  "keep.log": "alpha\n",
  ".git/config": "alpha\n",
  bin: Buffer.from("alpha\0alpha")
}

const world = (engine: "ripgrep" | "own") => {
  const root = folder(files)
  const workspace = Workspace.open(root)
  const tools = fileTools(workspace).filter((tool) => tool.spec().id !== "grep")
  const own = erase(grep(engine === "own" ? { workspace, engine } : { workspace }))
  return { root, ...hands(root, [...tools, own]) }
}

it("ripgrep is installed where these tests run", () => {
  expect(findRipgrep()).toBeDefined()
})

describe.each(["ripgrep", "own"] as const)("grep with %s", (engine) => {
  it("finds lines with their numbers and leaves out what is ignored, hidden in .git or binary", async () => {
    const { call } = world(engine)
    const { data, content: blocks } = await call("grep", { pattern: "alpha" })
    expect(data).toEqual({ files: ["keep.log", "src/.hidden", "src/a.ts", "src/b.js"], matches: 4, truncated: false })
    expect(blocks).toEqual([
      { type: "text", text: "keep.log:1:alpha\nsrc/.hidden:1:alpha\nsrc/a.ts:1:const alpha = 1\nsrc/b.js:1:alpha()" }
    ])
  })

  it.each([
    [{ pattern: "ALPHA", "-i": true, glob: "*.ts", output_mode: "count" }, "src/a.ts:1\nsrc/deep/d.ts:1"],
    [{ pattern: "beta", "-B": 1 }, "src/a.ts-1-const alpha = 1\nsrc/a.ts:2:const beta = 2"],
    [{ pattern: "beta", "-C": 1, output_mode: "files_with_matches" }, "src/a.ts"],
    [{ pattern: "= 1.const", multiline: true }, "src/a.ts:1:const alpha = 1\nsrc/a.ts:2:const beta = 2"],
    [{ pattern: "alpha", path: "src/a.ts" }, "src/a.ts:1:const alpha = 1"],
    [{ pattern: "alpha", path: "src/deep" }, "no match"],
    [{ pattern: "alpha", head_limit: 1 }, "keep.log:1:alpha\n(1 of 4 lines; narrow the search or raise head_limit)"],
    [{ pattern: "--files" }, "no match"],
    [{ pattern: "nowhere" }, "no match"]
  ])("answers %j", async (args, text) => {
    expect(await world(engine).text("grep", args)).toBe(text)
  })

  it("[T5] an expression that cannot be read is an argument to correct", async () => {
    expect(await world(engine).text("grep", { pattern: "(" })).toContain("/pattern")
  })

  it("[T5] NUL is no expression, and says so", async () => {
    expect(await world(engine).text("grep", { pattern: "a\0" })).toContain("NUL cannot be searched for")
  })

  it("a name that holds a line feed is one name, and is told in one line", async () => {
    const { root, call, text } = world(engine)
    for (const name of ["two\nlines.txt", "-- \n.txt", "zwei:1:alpha.txt"])
      fs.writeFileSync(path.join(root, name), "omega\n")
    expect((await text("grep", { pattern: "omega", output_mode: "files_with_matches" })).split("\n").sort()).toEqual([
      String.raw`"-- \n.txt"`,
      String.raw`"two\nlines.txt"`,
      "zwei:1:alpha.txt"
    ])
    expect((await call("grep", { pattern: "omega", output_mode: "content", "-C": 1 })).isError).toBe(false)
  })

  it("[L3] an expression that never ends is ended, and one that is aborted at once", async () => {
    const { root, text } = world(engine)
    fs.writeFileSync(path.join(root, "src/a.ts"), `${"a".repeat(200)}!\n`)
    const controller = new AbortController()
    controller.abort(new Error("cancelled"))
    expect(await text("grep", { pattern: "x" }, { signal: controller.signal })).toContain("refused: cancelled")
  })
})

it("an expression that backtracks without end is interrupted in the middle of a match", async () => {
  const { searchText } = await import("../src/internal/searchText.js")
  const { hold } = await import("../src/internal/heldDirectory.js")
  const root = folder({ f: `${"a".repeat(100)}!\n` })
  const request = {
    pattern: "^(a+)+$",
    ignoreCase: false,
    multiline: false,
    before: 0,
    after: 0,
    glob: undefined,
    file: undefined,
    timeout: 50
  }
  const directory = hold(root)
  const { ended } = await searchText({
    folder: directory,
    request,
    matchesGlob: () => true,
    signal: new AbortController().signal
  })
  directory.close()
  expect(ended).toBe("timeout")
})

it("glob matches paths, newest first, and leaves out what is ignored", async () => {
  const { root, text } = world("own")
  const old = new Date(0)
  fs.utimesSync(path.join(root, "src/a.ts"), old, old)
  expect(await text("glob", { pattern: "**/*.ts" })).toBe("src/deep/d.ts\nsrc/a.ts")
  expect(await text("glob", { pattern: "*.ts", path: "src" })).toBe("src/a.ts")
  expect(await text("glob", { pattern: "src/*" }).then((one) => one.split("\n").sort())).toEqual([
    "src/.hidden",
    "src/a.ts",
    "src/b.js"
  ])
  expect(await text("glob", { pattern: "../**" })).toContain("a pattern relative to path")
})

it("list names folders, sizes and links, and all shows what is ignored", async () => {
  const { root, text } = world("own")
  fs.symlinkSync("a.ts", path.join(root, "src/link"))
  expect(await text("list", { path: "src", depth: 2 })).toBe(
    ".hidden\t6\na.ts\t31\nb.js\t9\ndeep/\ndeep/.gitignore\t8\ndeep/d.ts\t6\nlink (link)"
  )
  expect(await text("list", { all: true }).then((one) => one.includes("x.log"))).toBe(true)
})

it("[H8] a name that would move the cursor is shown escaped", async () => {
  const root = folder({ "a\u001b[2Jb\nc": "needle" })
  const { text } = hands(root)
  for (const shown of [await text("list", {}), await text("glob", { pattern: "**" })]) {
    expect(shown).not.toContain("\u001b")
    expect(shown.split("\n").length).toBe(1)
  }
})

it("a move keeps what is there unless it is told otherwise, and makes the folders", async () => {
  const root = folder({ a: "a", b: "b", "dir/c": "c" })
  const { text } = hands(root)
  expect(await text("move", { source: "a", destination: "b" })).toContain("an existing file")
  expect(await text("move", { source: "a", destination: "b", overwrite: true })).toBe("moved a to b")
  expect(content(root, "b")).toBe("a")
  expect(await text("move", { source: "b", destination: "new/place" })).toBe("moved b to new/place")
  expect(await text("move", { source: "dir", destination: "dir/inside" })).toContain(
    "outside of the folder that is moved"
  )
  expect(await text("move", { source: "new/place", destination: "dir" })).toContain("an existing folder")
  expect(await text("delete", { path: "dir" })).toContain("an empty folder, or recursive: true")
  expect(await text("delete", { path: "." })).toContain("the workspace itself")
  expect(await text("move", { source: "dir", destination: "moved" })).toBe("moved dir to moved")
  expect(content(root, "moved/c")).toBe("c")
})

it("searching thousands of files ends at its bounds and says so", async () => {
  const root = folder()
  execFileSync("sh", ["-c", "for d in $(seq 20); do mkdir $d; for f in $(seq 60); do echo alpha > $d/$f; done; done"], {
    cwd: root
  })
  const { call } = hands(root)
  expect((await call("glob", { pattern: "**" })).data).toMatchObject({ truncated: true })
  expect((await call("list", { depth: 3 })).data).toMatchObject({ truncated: true })
  expect((await call("grep", { pattern: "alpha", head_limit: 10 })).data).toMatchObject({
    matches: 1200,
    truncated: true
  })
})
