import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { type RawTool, type ToolOperation, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { FilesSeen, fileTools, Workspace } from "../src/files.js"
import { callOf, invocation, operation, stateOf } from "./world.js"

/** A scratch folder with the given files; a value of `{ link }` is a symbolic link. */
export const folder = (
  files: Readonly<Record<string, string | Uint8Array | { readonly link: string }>> = {}
): string => {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "files-")))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) put(root, name, content)
  return root
}

export const put = (root: string, name: string, content: string | Uint8Array | { readonly link: string }): void => {
  const file = path.join(root, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  if (typeof content === "object" && "link" in content) fs.symlinkSync(content.link, file)
  else fs.writeFileSync(file, content)
}

export const content = (root: string, name: string): string => fs.readFileSync(path.join(root, name), "utf8")

export interface Hands {
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly tool: (id: string) => RawTool.RawTool
  /** The whole output. */
  readonly call: (id: string, args: unknown, options?: CallOptions) => Promise<ToolOutput.ToolOutput>
  /** Its text, or the message of the refusal after `refused: `. */
  readonly text: (id: string, args: unknown, options?: CallOptions) => Promise<string>
  /** What a new process, which knows what was committed, finds that such a call came to. */
  readonly found: (id: string, args: unknown) => Promise<RawTool.Reconciliation>
}

export interface CallOptions {
  readonly threadId?: string
  readonly signal?: AbortSignal
}

/** Tools as one process holds them; committed state is applied after each call, as the runtime would between steps. */
export const hands = (root: string, tools: ReadonlyArray<RawTool.RawTool> = fileTools(Workspace.open(root))): Hands => {
  const committed = new Map<string, Record<string, unknown>>()
  const tool = (id: string): RawTool.RawTool => {
    const found = tools.find((one) => one.spec().id === id)
    if (found === undefined) throw new Error(`no tool ${id}`)
    return found
  }
  const call = async (
    id: string,
    args: unknown,
    { threadId = "t1", signal }: CallOptions = {}
  ): Promise<ToolOutput.ToolOutput> => {
    const state = committed.get(threadId) ?? {}
    committed.set(threadId, state)
    const given: ToolOperation.ToolOperation = { ...operation, threadId, state: stateOf(state) }
    const { context } = invocation(given)
    const eventual = tool(id).invoke(callOf(tool(id), args), signal === undefined ? context : { ...context, signal })
    const output = await (Effect.isEffect(eventual) ? Effect.runPromise(eventual) : eventual)
    for (const command of output.state) {
      const place = `${command.scope}/${command.key}`
      if (command._tag !== "Set") delete state[place]
      else if (command.key === FilesSeen.name)
        state[place] = { ...(state[place] as object | undefined), ...(command.value as object) }
      else state[place] = command.value
    }
    return output
  }
  const text = async (id: string, args: unknown, options?: CallOptions): Promise<string> => {
    try {
      return ToolOutput.text(await call(id, args, options))
    } catch (error) {
      return `refused: ${(error as Error).message}`
    }
  }
  const found = async (id: string, args: unknown): Promise<RawTool.Reconciliation> => {
    const fresh = fileTools(Workspace.open(root)).find((one) => one.spec().id === id)
    const state = stateOf(committed.get("t1") ?? {})
    const eventual = fresh?.reconcile?.(callOf(fresh, args), { ...operation, threadId: "t1", state })
    if (eventual === undefined) throw new Error(`${id} cannot be asked`)
    return Effect.isEffect(eventual) ? Effect.runPromise(eventual) : eventual
  }
  return { tools, tool, call, text, found }
}
