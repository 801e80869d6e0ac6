/**
 * The bench of hands:  node dist/hands.js [--rounds N]
 * What a call through a sandbox costs over the same call here, how long a hand takes to start, and how many reads and
 * searches go through in a second. Contenders are interleaved, so that a machine whose speed drifts does not decide.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { handTools } from "@toolwright/builtin-tools/hand-tools"
import { type RawTool, ToolArgs, type ToolOutput } from "@toolwright/runtime-contract"
import { probe, Sandbox } from "@toolwright/sandbox"

const { values } = parseArgs({ options: { rounds: { type: "string", default: "1000" } } })
const rounds = Number(values.rounds)
const starts = 25

const workspace = fs.mkdtempSync(path.join(os.homedir(), ".bench-"))
const files = 200
const text = "const value = 1 // a line of ordinary length for a source file\n".repeat(100)
for (let index = 0; index < files; index++)
  fs.writeFileSync(path.join(workspace, `file${index}.ts`), `// needle${index}\n${text}`)

const tools = handTools({ workspace, contained: true })
const registry = new URL(import.meta.resolve("@toolwright/builtin-tools/hand"))
const sandbox = await Sandbox.make({ workspace, tools, registry })

const callOf = (toolId: string, args: unknown): RawTool.ToolCall => {
  const tool = toolOf(toolId)
  const parsed = ToolArgs.parseToolArgs(tool.spec(), args)
  if (!parsed.ok) throw parsed.error
  return { callId: "c1", toolId, arguments: parsed.value }
}

const toolOf = (toolId: string): RawTool.RawTool => {
  const tool = tools.find((one) => one.spec().id === toolId)
  if (tool === undefined) throw new Error(`no tool ${toolId}`)
  return tool
}

const contextOf = (threadId: string): RawTool.InvocationContext => ({
  signal: new AbortController().signal,
  progress: () => {},
  operation: {
    runId: "r1",
    threadId,
    operationId: "r1/1/0",
    callId: "c1",
    attempt: 1,
    epoch: 1,
    principal: "bench",
    state: { get: () => undefined }
  }
})

const through = async (call: RawTool.ToolCall, threadId = "t1"): Promise<ToolOutput.ToolOutput> =>
  (await sandbox.invoke(call, contextOf(threadId))) as ToolOutput.ToolOutput
const here = async (call: RawTool.ToolCall): Promise<ToolOutput.ToolOutput> =>
  (await toolOf(call.toolId).invoke(call, contextOf("t1"))) as ToolOutput.ToolOutput

const timed = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const at = (figures: ReadonlyArray<number>, part: number): number =>
  [...figures].sort((left, right) => left - right)[Math.floor(figures.length * part)] ?? Number.NaN

const row = (name: string, cells: Readonly<Record<string, string>>): void =>
  console.log(
    `${name.padEnd(34)}${Object.entries(cells)
      .map(([key, value]) => `${key} ${value}`)
      .join("   ")}`
  )

const overhead = async (): Promise<number> => {
  const inside: Array<number> = []
  const outside: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const call = callOf("read", { file_path: `file${round % files}.ts`, limit: 20 })
    outside.push(await timed(() => here(call)))
    inside.push(await timed(() => through(call)))
  }
  const ms = (figure: number): string => `${figure.toFixed(3)} ms`
  row("read of 20 lines, in process", { p50: ms(at(outside, 0.5)), p95: ms(at(outside, 0.95)) })
  row("the same through a warm hand", { p50: ms(at(inside, 0.5)), p95: ms(at(inside, 0.95)) })
  const over = at(inside, 0.5) - at(outside, 0.5)
  row("over the tool's own time", { p50: ms(over), p95: ms(at(inside, 0.95) - at(outside, 0.95)) })
  return over
}

const probed = probe()
const bubblewrap = probed.ok ? probed.bubblewrap : ""
const smallBox = [
  ...["user", "ipc", "pid", "uts", "net"].map((one) => `--unshare-${one}`),
  ..."--ro-bind / / --proc /proc --dev /dev --uid 1000 --gid 1000 --".split(" ")
]

const coldStart = async (): Promise<number> => {
  const call = callOf("read", { file_path: "file0.ts", limit: 1 })
  const hands: Array<number> = []
  const bare: Array<number> = []
  const inBox: Array<number> = []
  await through(call, "spare")
  for (let round = 0; round < starts; round++) {
    // Without this program's environment, which may make Node read more at its start.
    bare.push(await timed(() => spawnSync(process.execPath, ["-e", "0"], { env: {} })))
    inBox.push(await timed(() => spawnSync(bubblewrap, [...smallBox, process.execPath, "-e", "0"], { env: {} })))
    hands.push(await timed(() => through(call, `cold${round}`)))
    await sandbox.end(`cold${round}`)
  }
  const ms = (figure: number): string => `${figure.toFixed(0)} ms`
  row("node -e 0, for comparison", { p50: ms(at(bare, 0.5)), least: ms(Math.min(...bare)) })
  row("bwrap and node -e 0", { p50: ms(at(inBox, 0.5)), least: ms(Math.min(...inBox)) })
  row("first call of a new hand", { p50: ms(at(hands, 0.5)), least: ms(Math.min(...hands)) })
  return at(hands, 0.5)
}

const perSecond = async (): Promise<void> => {
  const reads = Array.from({ length: files }, (_, index) => callOf("read", { file_path: `file${index}.ts` }))
  const greps = Array.from({ length: 50 }, (_, index) => callOf("grep", { pattern: `needle${index}\\b` }))
  const rate = (count: number, ms: number): string => `${Math.round((count / ms) * 1000)}/s`
  const plain = await timed(() =>
    reads.forEach((_, index) => fs.readFileSync(path.join(workspace, `file${index}.ts`), "utf8"))
  )
  const own = await timed(() => Promise.all(reads.map(here)))
  const hand = await timed(() => Promise.all(reads.map((call) => through(call))))
  row("reads of 6 KB", {
    "plain node": rate(files, plain),
    "tool here": rate(files, own),
    "through a hand": rate(files, hand)
  })
  const plainGrep = await timed(() => {
    for (let index = 0; index < 50; index++) {
      const needle = new RegExp(`needle${index}\\b`)
      for (let file = 0; file < files; file++)
        needle.test(fs.readFileSync(path.join(workspace, `file${file}.ts`), "utf8"))
    }
  })
  const ownGrep = await timed(() => Promise.all(greps.map(here)))
  const handGrep = await timed(() => Promise.all(greps.map((call) => through(call))))
  row(`greps over ${files} files`, {
    "plain node": rate(50, plainGrep),
    "tool here": rate(50, ownGrep),
    "through a hand": rate(50, handGrep)
  })
}

try {
  for (let round = 0; round < 50; round++) await through(callOf("read", { file_path: "file0.ts", limit: 20 }))
  const over = await overhead()
  const start = await coldStart()
  await perSecond()
  const gates = [
    ...(over < 1 ? [] : [`a warm call costs ${over.toFixed(2)} ms over its tool; at most 1 was promised`]),
    ...(start < 120 ? [] : [`a hand starts in ${start.toFixed(0)} ms; at most 120 was promised`])
  ]
  for (const gate of gates) console.log(`gate: ${gate}`)
  process.exitCode = gates.length === 0 ? 0 : 1
} finally {
  await sandbox.close()
  fs.rmSync(workspace, { recursive: true, force: true })
}
