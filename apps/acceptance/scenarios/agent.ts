/**
 * The agent of the crash scenarios: one tool with the recovery capability that is asked for, a model that reads from the
 * transcript where it stands, a SQLite file.
 */
import { createRequire } from "node:module"
import { erase } from "@toolwright/builtin-tools"
import {
  ExecutableAgentSnapshot,
  GateOutcome,
  type LlmExecutor,
  type PermissionGate,
  type RawTool,
  Tool,
  ToolDescriptor,
  type ToolRecovery
} from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { SqliteDriver, SqliteThreadStore } from "@toolwright/store-sqlite"
import {
  type CrashWorld,
  type ClosableStore,
  type OutsideWorld,
  type ScriptedCall,
  ScriptedLlm
} from "@toolwright/testing"
import * as Effect from "effect/Effect"

const betterSqlite3 = (): SqliteDriver.SqliteDriver =>
  SqliteDriver.betterSqlite3(createRequire(import.meta.url)("better-sqlite3") as SqliteDriver.BetterSqlite3)

export const openStore = async ({
  clock,
  database
}: Pick<CrashWorld, "clock" | "database">): Promise<ClosableStore> => {
  const driver = SqliteDriver.nodeSqlite() ?? betterSqlite3()
  const store = await Effect.runPromise(SqliteThreadStore.open({ path: database, driver, now: clock.now }))
  return { store, close: () => Effect.runPromise(store.close) }
}

export type Capability = ToolRecovery.ToolRecoveryCapability

/** `proceed` is awaited behind the entry: what makes a tool slow. */
export const actTool = (given: {
  readonly recovery: Capability
  readonly outside: OutsideWorld
  readonly proceed?: (n: number, signal: AbortSignal) => Promise<void>
}): RawTool.RawTool => {
  const { outside, proceed, recovery } = given
  const act = Tool.make({
    id: "act",
    description: "Does something in the outside world",
    args: Type.Object({ n: Type.Integer() }),
    recovery,
    // Only the capability that is made of asking can be asked.
    ...(recovery === "DurableRequest"
      ? {
          reconcile: ({ operationId }) =>
            outside.seen().some((effect) => effect.operationId === operationId)
              ? ({ _tag: "Happened", output: "done, as the outside world knows" } as const)
              : ({ _tag: "NotSent" } as const)
        }
      : {}),
    call: async ({ n }, { signal }) => {
      await proceed?.(n, signal)
      return `done ${n}`
    }
  })
  return outside.recorded(erase(act))
}

/** The steps of a run: the calls of each, then a last word. */
export const scriptOf = (steps: ReadonlyArray<ReadonlyArray<ScriptedCall>>): LlmExecutor.LlmExecutor =>
  new ScriptedLlm((request) => {
    // By what was asked so far, so that any process can go on with any run.
    const taken = request.messages.toArray().filter(({ role }) => role === "assistant").length
    const calls = steps[taken]
    return calls === undefined
      ? "Done."
      : { calls: calls.map((call, index) => ({ callId: `call-${taken + 1}-${index + 1}`, ...call })) }
  })

export const snapshotOf = (tools: ReadonlyArray<RawTool.RawTool>): ExecutableAgentSnapshot.ExecutableAgentSnapshot =>
  ExecutableAgentSnapshot.builder("agent")
    .model({ provider: "scripted", model: "one" })
    .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "scenario")))
    .build()

export type Decision = "allow" | "ask" | "deny"

const outcomes: Readonly<Record<Decision, GateOutcome.GateOutcome>> = {
  allow: GateOutcome.allow,
  ask: GateOutcome.requireConfirmation({ reason: "somebody must say yes" }),
  deny: GateOutcome.block("not here", "deny-all")
}

export const gateOf = (decision: Decision): PermissionGate.PermissionGate => ({
  id: `gate-${decision}`,
  decide: () => outcomes[decision],
  denies: () => (decision === "deny" ? "not here" : undefined)
})
