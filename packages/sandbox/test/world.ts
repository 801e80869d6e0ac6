import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { onTestFinished } from "vitest"
import { type RawTool, ToolArgs, ToolOutput } from "@toolwright/runtime-contract"
import { Sandbox, unsafeLocal } from "../src/index.js"
import make from "./registry.js"

const here = path.dirname(fileURLToPath(import.meta.url))

/** The hand as it ships, made from source. */
export const entry: string = path.join(here, "../temp/hand", `${process.pid}.mjs`)
await build({
  input: path.join(here, "../src/hand.ts"),
  platform: "node",
  output: { file: entry, format: "esm" },
  logLevel: "silent"
})

/** The tools inside, as one file. */
export const registry: string = path.join(here, "../temp/hand", `registry-${process.pid}.mjs`)
await build({
  input: path.join(here, "registry.ts"),
  platform: "node",
  output: { file: registry, format: "esm" },
  logLevel: "silent"
})

export const tools: ReadonlyArray<RawTool.RawTool> = make({})

export const scratch = (): string => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "box-")))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Asked {
  readonly threadId?: string
  readonly signal?: AbortSignal
  readonly progress?: (text: string) => void
  readonly state?: unknown
}

export interface World {
  readonly sandbox: Sandbox.Sandbox
  readonly workspace: string
  readonly call: (toolId: string, value?: string, asked?: Asked) => Promise<ToolOutput.ToolOutput>
  /** The text of the output, or the reason of the error and its message. */
  readonly text: (toolId: string, value?: string, asked?: Asked) => Promise<string>
}

export const operation = (threadId: string, state: unknown) => ({
  runId: "r1",
  threadId,
  operationId: "r1/1/0",
  callId: "c1",
  attempt: 2,
  epoch: 3,
  principal: "ada",
  state: { get: () => state as never }
})

export const callOf = (toolId: string, value: string | undefined): RawTool.ToolCall => {
  const spec = tools.find((tool) => tool.spec().id === toolId)?.spec()
  if (spec === undefined) throw new Error(`no tool ${toolId}`)
  const parsed = ToolArgs.parseToolArgs(spec, value === undefined ? {} : { value })
  if (!parsed.ok) throw parsed.error
  return { callId: "c1", toolId, arguments: parsed.value }
}

export const around = (sandbox: Sandbox.Sandbox, workspace: string): World => {
  onTestFinished(() => sandbox.close())
  const call: World["call"] = async (toolId, value, asked = {}) => {
    const { threadId = "t1", signal = new AbortController().signal, progress = () => {}, state } = asked
    const made = sandbox.invoke(callOf(toolId, value), { operation: operation(threadId, state), signal, progress })
    return (await made) as ToolOutput.ToolOutput
  }
  const text: World["text"] = async (...given) => {
    try {
      const output = await call(...given)
      return `${output.isError ? "error: " : ""}${ToolOutput.text(output)}`
    } catch (error) {
      const { reason, message } = error as { readonly reason?: { readonly _tag: string }; readonly message: string }
      return `${reason?._tag ?? "defect"}: ${message}`
    }
  }
  return { sandbox, workspace, call, text }
}

export const boxed = async (options: Partial<Sandbox.SandboxOptions> = {}): Promise<World> => {
  const workspace = options.workspace ?? scratch()
  return around(await Sandbox.make({ tools, registry, entry, ...options, workspace }), workspace)
}

export const local = async (options: Partial<Parameters<typeof unsafeLocal>[0]> = {}): Promise<World> => {
  const workspace = options.workspace ?? scratch()
  return around(await unsafeLocal({ tools, registry, entry, warn: () => {}, ...options, workspace }), workspace)
}

/** Another program that holds a sandbox, started and ready. */
export const startParent = async (
  environment: Readonly<Record<string, string>> = {}
): Promise<ReturnType<typeof spawn>> => {
  const program = path.join(scratch(), "program.mjs")
  await build({
    input: path.join(here, "parent.ts"),
    platform: "node",
    external: [/^ajv/],
    output: { file: program, format: "esm" },
    logLevel: "silent",
    resolve: { conditionNames: ["@toolwright/source", "import", "node", "default"] }
  })
  const parent = spawn(process.execPath, [program, scratch(), registry, entry, `parent-${process.pid}`], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...environment }
  })
  onTestFinished(() => void parent.kill("SIGKILL"))
  await new Promise((resolve) => parent.stdout.once("data", resolve))
  return parent
}

/** Processes, zombies left out, whose command line holds the text. */
export const running = (text: string): ReadonlyArray<string> =>
  fs.readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false
    try {
      return fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text)
    } catch {
      return false
    }
  })

export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
