/**
 * A tool of somebody's own, killed at every point: the program that the README of the testing package shows.
 */
// #region crash
import { fileURLToPath } from "node:url"
import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, PermissionGate, Tool, ToolDescriptor } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import { type CrashScenario, crashProgram, killAtEveryPoint, type OutsideWorld, ScriptedLlm } from "@toolwright/testing"
import * as Effect from "effect/Effect"

const payTool = ({ recorded, seen }: OutsideWorld) => {
  const pay = Tool.make({
    id: "pay",
    description: "Pays an invoice",
    args: Type.Object({ invoice: Type.String() }),
    recovery: "DurableRequest",
    // What your provider would be asked: do you know a payment under this key?
    reconcile: ({ operationId }) =>
      seen().some((effect) => effect.operationId === operationId)
        ? { _tag: "Happened", output: "paid" }
        : { _tag: "NotSent" },
    call: () => "paid"
  })
  // Writes each entry to a file of its own, synced, before the tool does anything.
  return recorded(erase(pay))
}

const paying: CrashScenario = {
  name: "an invoice is paid",
  openStore: async ({ clock, database }) => {
    const store = await Effect.runPromise(SqliteThreadStore.open({ path: database, now: clock.now }))
    return { store, close: () => Effect.runPromise(store.close) }
  },
  open: ({ clock, crashPoint, outside, store }) => {
    const tools = [payTool(outside)]
    const snapshot = ExecutableAgentSnapshot.builder("clerk")
      .model({ provider: "scripted", model: "one" })
      .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "custom:payments")))
      .build()
    // Reads from the transcript where it stands: any process may go on with the run.
    const llm = new ScriptedLlm(({ messages }) =>
      messages.at(-1)?.role === "tool" ? "Paid." : { calls: [{ toolId: "pay", arguments: { invoice: "17" } }] }
    )
    const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools, store, clock, crashPoint })
    return {
      start: () => runtime.run({ snapshot, input: "Pay invoice 17.", principal: "ada", threadId: "invoices" }),
      recover: () => runtime.recover(),
      close: () => runtime.close()
    }
  },
  // Beside the laws that always hold: what this tool promises.
  laws: ({ effects }) => (effects.length > 1 ? [`the invoice was paid ${effects.length} times`] : [])
}

if (!(await crashProgram([paying]))) {
  const { deaths, violations } = await killAtEveryPoint({ program: fileURLToPath(import.meta.url) })
  for (const violation of violations) console.error(violation)
  console.log(`killed ${deaths} times, ${violations.length} violations`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
// #endregion
