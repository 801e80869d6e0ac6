import { execFileSync } from "node:child_process"
import { getEventListeners } from "node:events"
import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it, vi } from "vitest"
import { erase } from "../src/index.js"
import { Workspace } from "../src/files.js"
import { bash, type ShellPlace } from "../src/shell.js"
import { folder, hands, type Hands } from "./folder.js"

vi.setConfig({ testTimeout: 30_000 })

/** The shell outside of a box: what it guarantees there. */
const world = (
  files: Parameters<typeof folder>[0] = {},
  options: Partial<ShellPlace> = {}
): Hands & { readonly root: string } => {
  const root = folder(files)
  const workspace = Workspace.open(root)
  return { root, ...hands(root, [erase(bash({ workspace, contained: false, ...options }))]) }
}

/** Processes, zombies left out, whose command line holds the text. */
const running = (text: string): ReadonlyArray<string> =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return (
          fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text) &&
          !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
        )
      } catch {
        return false
      }
    })

let unique = 70_000_000 + process.pid * 10

it("the answer holds both streams, the exit code and the directory", async () => {
  const { call } = world()
  const { data, content } = await call("bash", { command: "echo out; echo err >&2; exit 3" })
  expect(content).toEqual([{ type: "text", text: "out\nerr\n(exit code 3)" }])
  expect(data).toEqual({ exit_code: 3, ended: null, directory: ".", truncated: false })
})

it("the working directory stays from call to call, per thread, and never leaves the workspace", async () => {
  const { text } = world({ "a/b/f": "" })
  expect(await text("bash", { command: "cd a && cd b" })).toBe("(no output)")
  expect(await text("bash", { command: "ls" })).toBe("f")
  expect(await text("bash", { command: "ls" }, { threadId: "other" })).toBe("a")
  expect(await text("bash", { command: "cd /; exit 1" })).toBe(
    "(the shell ended outside of the workspace; the next command starts in the workspace)\n(exit code 1)"
  )
  expect(await text("bash", { command: "ls" })).toBe("a")
})

it.each(["blank ", "line\nbreak", "tail\n", "a\n/b"])(
  "a working directory keeps whatever its name ends with or holds: %j",
  async (name) => {
    const { call, text, root } = world({ [`${name}/f`]: "", blank: "no folder", "tail/f": "", "b/f": "" })
    const { data } = await call("bash", { command: `cd "${name}"; echo of the command itself >&3` })
    expect(data).toMatchObject({ directory: path.normalize(name) })
    expect(await text("bash", { command: "pwd -P" })).toBe(`${root}/${name}`)
  }
)

it("[D1] the working directory survives the process, for it is state of the thread", async () => {
  const { root, call } = world({ "a/f": "" })
  const { state } = await call("bash", { command: "cd a" })
  expect(state).toEqual([{ _tag: "Set", scope: "Thread", key: "shell_directory", merge: "Disjoint", value: "a" }])
  expect(fs.existsSync(path.join(root, "a"))).toBe(true)
})

it("a working directory that is gone is the workspace again, and the answer says so", async () => {
  const { root, text } = world({ "a/f": "" })
  await text("bash", { command: "cd a" })
  fs.rmSync(path.join(root, "a"), { recursive: true })
  expect(await text("bash", { command: "pwd -P" })).toBe(
    `${root}\n(the working directory was gone; the command ran in the workspace)`
  )
})

// C101
it.each([
  ["a background job", "sleep N & sleep N"],
  ["one that ignores the signal", `trap "" 15 2; sleep N`],
  ["nohup", "nohup sleep N & wait"],
  ["a new session", "setsid sleep N & sleep N"],
  ["a double fork", "( ( setsid sleep N & ) & ); sleep N"]
])("[L3] after a time-out nothing runs on: %s", async (_, command) => {
  const seconds = String(unique++)
  const { text } = world()
  expect(await text("bash", { command: command.replaceAll("N", seconds), timeout: 300 })).toBe(
    "(ended: it took longer than its timeout of 300 ms)"
  )
  expect(running(seconds)).toEqual([])
})

it("[L3] what a command leaves in the background is ended with it, and its pipe does not hold the answer", async () => {
  const seconds = String(unique++)
  const { text } = world()
  expect(await text("bash", { command: `setsid sleep ${seconds} & echo started` })).toBe("started")
  expect(running(seconds)).toEqual([])
})

it("[L3] a cancelled command is gone when the call has ended", async () => {
  const seconds = String(unique++)
  const { text } = world()
  const controller = new AbortController()
  const said = text(
    "bash",
    { command: `echo begun; sleep ${seconds} & sleep ${seconds}` },
    { signal: controller.signal }
  )
  // The command line of a sleep itself: the shell's holds the text before it has run anything.
  while (running(`sleep\0${seconds}`).length === 0) await new Promise(setImmediate)
  controller.abort(new Error("stop"))
  expect(await said).toBe("refused: the command was ended: it was cancelled\nbegun\n")
  expect(running(seconds)).toEqual([])
})

// C103
it("no listener, child or zombie is left behind", async () => {
  const { text } = world()
  const { signal } = new AbortController()
  for (let round = 0; round < 5; round++) await text("bash", { command: "true | cat" }, { signal })
  expect(getEventListeners(signal, "abort").length).toBe(0)
  const children = execFileSync("ps", ["--ppid", String(process.pid), "-o", "stat=,comm="], { encoding: "utf8" })
  expect(children.split("\n").filter((line) => /Z|bash/.test(line))).toEqual([])
})

it("[T10] of long output both ends are shown, and the whole is a file that can be read", async () => {
  const { root, call } = world()
  const { data, content } = await call("bash", { command: "seq 1 20000" })
  const shown = content[0]?.type === "text" ? content[0].text : ""
  const file = (data as { output_file: string }).output_file
  expect(shown.startsWith("1\n2\n3\n")).toBe(true)
  expect(shown.endsWith("\n19999\n20000")).toBe(true)
  expect(shown).toContain(`characters left out here; the whole output is in ${file}]`)
  expect(shown.length).toBeLessThan(33_000)
  expect(fs.readFileSync(path.join(root, file), "utf8").trimEnd().split("\n").length).toBe(20_000)
  expect(fs.readFileSync(path.join(root, ".toolwright/.gitignore"), "utf8")).toBe("*\n")
})

it("[T10] a cut never falls into a character", async () => {
  const { call } = world()
  const { content } = await call("bash", {
    command: `printf '😀%.0s' $(seq 1 30001); printf x; printf '😀%.0s' $(seq 1 30001)`
  })
  const shown = content[0]?.type === "text" ? content[0].text : ""
  expect([shown.isWellFormed(), shown.includes("\ufffd")]).toEqual([true, false])
})

it("a spilled output does not follow a link out of the workspace", async () => {
  const base = folder({ "ws/a": "", "outside/x": "" })
  fs.symlinkSync("../outside", path.join(base, "ws/.toolwright"))
  const { call } = hands(base, [erase(bash({ workspace: Workspace.open(path.join(base, "ws")), contained: false }))])
  const { data, content } = await call("bash", { command: "seq 1 20000" })
  expect(data).toMatchObject({ truncated: true })
  expect(JSON.stringify(content)).toContain("they were not kept")
  expect(fs.readdirSync(path.join(base, "outside"))).toEqual(["x"])
})

it.each([
  ["output", "yes", { output: 1_000_000 }, "it wrote too much output"],
  ["processes", "for i in $(seq 50); do sleep 100 & done; wait", { processes: 20 }, "it started too many processes"],
  [
    "memory",
    "node -e 'const a=[];for(;;)a.push(Buffer.alloc(1e7,1))'",
    { memory: 300_000_000 },
    "it used too much memory"
  ]
])(
  "a command that passes its bound of %s is ended",
  async (_, command, limits, why) => {
    const { text } = world({}, { limits })
    expect(await text("bash", { command, timeout: 20_000 })).toContain(`(ended: ${why})`)
  },
  30_000
)

it("[H8] what a terminal would obey is taken out or made visible", async () => {
  const { text } = world()
  const command = String.raw`printf '\033[2J\033]0;title\007\033[31mred\033[0m \033]8;;http://x\033\\link\a\b\r50%%\r100%%\n\u202etxt.exe\033c'`
  expect(await text("bash", { command })).toBe("red link\u2407\u2408\n50%\n100%\n<U+202E>txt.exe")
})

it("secrets of this process are not in the command's environment", async () => {
  process.env["SECRET_TOKEN"] = "leak"
  const { text } = world()
  const names = (await text("bash", { command: "env" })).split("\n").map((line) => line.split("=")[0])
  delete process.env["SECRET_TOKEN"]
  expect(names).not.toContain("SECRET_TOKEN")
})

// C074
it.each(["", " ", "a\0b"])("[T5] %j is no command", async (command) => {
  expect(
    await world()
      .text("bash", { command })
      .catch((error: Error) => `refused: ${error.message}`)
  ).toMatch(/^refused: /)
})
