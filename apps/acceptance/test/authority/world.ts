/**
 * The world of the authority tests: one agent, recorded tools, a real policy or a plain gate, over either store.
 *
 * What holds must hold over the memory form and over SQLite; `overBoth` says each promise twice.
 */
import { Runtime, type PromiseRuntime } from "@toolwright/runtime"
import type { RuntimeOptions } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type Json,
  type PermissionGate,
  type RawTool,
  type ThreadStore,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, type Script, ScriptedLlm, TestClock } from "@toolwright/testing"
import { describe } from "vitest"
import { scratch } from "../store-sqlite/database.js"

export interface OpenedStores {
  readonly store: ThreadStore.ThreadStore
  /** The same threads from another process, as far as one process can play two. */
  readonly again: () => Promise<ThreadStore.ThreadStore>
  readonly close: () => Promise<void>
}

export type OpenStores = (clock: TestClock) => Promise<OpenedStores>

const memory: OpenStores = (clock) => {
  const store = new MemoryThreadStore({ now: clock.now })
  return Promise.resolve({ store, again: () => Promise.resolve(store), close: () => Promise.resolve() })
}

const sqlite: OpenStores = async (clock) => {
  const folder = scratch()
  const open = () => folder.open({ now: clock.now })
  return { store: await open(), again: open, close: folder.remove }
}

export const overBoth = (title: string, tests: (open: OpenStores) => void): void => {
  describe(`${title}, over memory`, () => {
    tests(memory)
  })
  describe(`${title}, over SQLite`, () => {
    tests(sqlite)
  })
}

export const principal = "ada"

export const call = (toolId: string, args: Json.JsonObject = {}) => ({ toolId, arguments: args })

export interface WorldOptions extends Partial<Omit<RuntimeOptions, "llm" | "tools" | "clock" | "store" | "gate">> {
  readonly open: OpenStores
  readonly script: Script
  readonly gate: PermissionGate.PermissionGate
  readonly tools?: (recorder: EffectRecorder) => ReadonlyArray<RawTool.RawTool>
  readonly select?: (builder: ExecutableAgentSnapshot.SnapshotBuilder) => ExecutableAgentSnapshot.SnapshotBuilder
}

export interface World {
  readonly runtime: PromiseRuntime
  /** A runtime of its own over the same threads, with whatever is different there. */
  readonly elsewhere: (options?: Partial<RuntimeOptions>) => Promise<PromiseRuntime>
  readonly store: ThreadStore.ThreadStore
  readonly clock: TestClock
  readonly recorder: EffectRecorder
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  readonly start: (more?: object) => ReturnType<PromiseRuntime["run"]>
  readonly close: () => Promise<void>
}

const makeWorld = async (options: WorldOptions): Promise<World> => {
  const { open, script, tools: toolsOf, select = (same) => same, ...rest } = options
  const clock = new TestClock(1_000)
  const stores = await open(clock)
  const recorder = new EffectRecorder()
  const tools = toolsOf?.(recorder) ?? [recorder.tool({ id: "note" })]
  const llm = new ScriptedLlm(script)
  const snapshot = select(
    ExecutableAgentSnapshot.builder("agent")
      .model({ provider: "scripted", model: "one" })
      .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "test:tools")))
  ).build()
  const common = { ...rest, llm, tools, clock }
  const runtime = Runtime.make({ ...common, store: stores.store })
  return {
    runtime,
    elsewhere: async (more) => Runtime.make({ ...common, store: await stores.again(), ...more }),
    store: stores.store,
    clock,
    recorder,
    snapshot,
    start: (more) => runtime.run({ snapshot, input: "hi", principal, threadId: "t", ...more }),
    close: async () => {
      await runtime.close()
      await stores.close()
    }
  }
}

/** Runs a test in a world of its own, and takes the world down behind it. */
export const inWorld = async (options: WorldOptions, test: (world: World) => Promise<void>): Promise<void> => {
  const world = await makeWorld(options)
  try {
    await test(world)
  } finally {
    await world.close()
  }
}
