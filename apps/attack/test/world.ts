import * as fs from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { spawn, type ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { handTools } from "@toolwright/builtin-tools/hand-tools"
import { type RawTool, ToolArgs, ToolOutput } from "@toolwright/runtime-contract"
import { Sandbox } from "@toolwright/sandbox"

const here = path.dirname(fileURLToPath(import.meta.url))
const packages = path.join(here, "../../../packages")

/** The two files that a hand is made of, made from source as the packages ship them. */
const built = async (input: string, name: string): Promise<string> => {
  const file = path.join(here, "../temp", `${name}-${process.pid}.cjs`)
  await build({
    input: path.join(packages, input),
    platform: "node",
    resolve: { conditionNames: ["@toolwright/source", "import", "module", "node", "default"] },
    output: { file, format: "cjs", exports: "auto", codeSplitting: false },
    logLevel: "silent"
  })
  return file
}

export const secret = "the-secret-of-the-host"

export interface World {
  readonly base: string
  readonly workspace: string
  readonly sandbox: Sandbox.Sandbox
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly victim: ChildProcess
  readonly port: number
  /** What reached the listeners of the host. */
  readonly reached: ReadonlyArray<string>
  /** Text of one call, or its refusal. */
  readonly call: (toolId: string, args: unknown) => Promise<string>
  readonly bash: (command: string, timeout?: number) => Promise<string>
  /** A Node program inside, as text. */
  readonly node: (code: string, timeout?: number) => Promise<string>
  /** What holds the hands. */
  readonly pids: () => ReadonlyArray<number>
  readonly close: () => Promise<void>
}

/** A host with secrets, listeners and a process beside a workspace, and a sandbox over the workspace. */
export const makeWorld = async (options: Partial<Sandbox.SandboxOptions> = {}): Promise<World> => {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), ".attack-")))
  const workspace = path.join(base, "workspace")
  for (const folder of ["workspace/src", "workspace/.git/hooks", "outside"])
    fs.mkdirSync(path.join(base, folder), { recursive: true })
  fs.writeFileSync(path.join(base, "outside/secret"), secret)
  fs.writeFileSync(path.join(workspace, "src/a.txt"), "inside\n")
  fs.writeFileSync(path.join(workspace, ".git/config"), "[core]\n")
  fs.symlinkSync("../outside", path.join(workspace, "out"))
  process.env["HOST_SECRET"] = secret
  const reached: Array<string> = []
  const server = http.createServer((request, response) => {
    reached.push(`tcp ${request.url}`)
    response.end(secret)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const sockets = [path.join(workspace, "host.sock"), `\0${base}`].map((place) => {
    const one = net.createServer((socket) => {
      reached.push(`unix ${JSON.stringify(place)}`)
      socket.end(secret)
    })
    one.listen(place)
    return one
  })
  const victim = spawn("sleep", ["86400"], { stdio: "ignore" })
  const tools = handTools({ workspace, contained: true })
  const [entry, registry] = await Promise.all([
    built("sandbox/src/hand.ts", "hand"),
    built("builtin-tools/src/hand.ts", "registry")
  ])
  const sandbox = await Sandbox.make({ workspace, tools, registry, entry, ...options })
  let position = 0
  const call: World["call"] = async (toolId, args) => {
    const tool = tools.find((one) => one.spec().id === toolId)
    if (tool === undefined) throw new Error(`no tool ${toolId}`)
    const parsed = ToolArgs.parseToolArgs(tool.spec(), args)
    if (!parsed.ok) throw parsed.error
    const given: RawTool.ToolCall = { callId: "c", toolId, arguments: parsed.value }
    const operation = {
      runId: "r",
      threadId: "t",
      operationId: `r/1/${position++}`,
      callId: "c",
      attempt: 1,
      epoch: 1,
      principal: "p",
      state: { get: () => undefined }
    }
    try {
      const output = (await sandbox.invoke(given, {
        operation,
        signal: new AbortController().signal,
        progress: () => {}
      })) as ToolOutput.ToolOutput
      return ToolOutput.text(output)
    } catch (error) {
      return `refused: ${(error as Error).message}`
    }
  }
  const bash: World["bash"] = (command, timeout = 20_000) => call("bash", { command, timeout })
  return {
    base,
    workspace,
    sandbox,
    tools,
    victim,
    port: (server.address() as net.AddressInfo).port,
    reached,
    call,
    bash,
    node: (code, timeout) => {
      fs.writeFileSync(path.join(workspace, "attack.cjs"), code)
      return bash("node attack.cjs", timeout)
    },
    pids: () =>
      fs
        .readdirSync("/proc")
        .map(Number)
        .filter((pid) => parentOf(pid) === process.pid && pid !== victim.pid),
    close: async () => {
      await sandbox.close()
      victim.kill("SIGKILL")
      server.closeAllConnections()
      server.close()
      for (const one of sockets) one.close()
      fs.rmSync(base, { recursive: true, force: true })
    }
  }
}

const parentOf = (pid: number): number | undefined => {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
  } catch {
    return undefined
  }
}
