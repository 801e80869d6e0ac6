import { type RawTool, type StateKey, ToolArgs, type ToolOperation } from "@toolwright/runtime-contract"
import type { TSchema } from "@toolwright/runtime-contract/typebox"

/** State that holds the given values by scope and name, without checks. */
export const stateOf = (values: Readonly<Record<string, unknown>> = {}): StateKey.StateView => ({
  get: <S extends TSchema>(key: StateKey.StateKey<S>) =>
    Object.entries(values).find(([place]) => place === `${key.scope}/${key.name}`)?.[1] as never
})

export const operation: ToolOperation.ToolOperation = {
  runId: "r1",
  threadId: "t1",
  operationId: "r1/1/0",
  callId: "c1",
  attempt: 1,
  epoch: 1,
  principal: "ada",
  state: stateOf()
}

export interface Invoked {
  readonly context: RawTool.InvocationContext
  readonly shown: ReadonlyArray<string>
  readonly signalsRead: () => number
  readonly abort: () => void
}

export const invocation = (given: ToolOperation.ToolOperation = operation): Invoked => {
  const controller = new AbortController()
  const shown: Array<string> = []
  let reads = 0
  const context: RawTool.InvocationContext = {
    get signal() {
      reads++
      return controller.signal
    },
    operation: given,
    progress: (text) => shown.push(text)
  }
  return { context, shown, signalsRead: () => reads, abort: () => controller.abort() }
}

/** A call of the tool with arguments that go through the parse boundary. */
export const callOf = (tool: RawTool.RawTool, args: unknown): RawTool.ToolCall => {
  const spec = tool.spec()
  const parsed = ToolArgs.parseToolArgs(spec, args)
  if (!parsed.ok) throw parsed.error
  return { callId: "c1", toolId: spec.id, arguments: parsed.value }
}
