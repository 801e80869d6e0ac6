/**
 * Applications that do what must not be done, for the harness to find: one whose store forgets, one that repeats.
 */
import { PermissionGate } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { Runtime } from "@toolwright/runtime"
import { type CrashActor, crashProgram, type CrashScenario, type OutsideWorld } from "@toolwright/testing"
import { actTool, openStore, scriptOf, snapshotOf } from "./agent.js"

type Opened = Parameters<CrashScenario["open"]>[0]

const actorOf = (world: Opened): CrashActor => {
  const tools = [actTool({ recovery: "NonRecoverable", outside: world.outside })]
  const { clock, crashPoint, store } = world
  const llm = scriptOf([[{ toolId: "act", arguments: { n: 1 } }]])
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools, store, clock, crashPoint })
  return {
    start: () => runtime.run({ snapshot: snapshotOf(tools), input: "Go.", principal: "ada", threadId: "thread" }),
    recover: () => runtime.recover(),
    close: () => runtime.close()
  }
}

/** What was under way is simply done again. */
const again = ({ enter, seen }: OutsideWorld): void => {
  const [effect] = seen()
  if (effect === undefined) return
  const { attempt, operationId, threadId, toolId } = effect
  const state = { get: () => undefined }
  const runId = operationId.split("/")[0] ?? ""
  const operation = {
    runId,
    threadId,
    operationId,
    callId: "",
    attempt: attempt + 1,
    epoch: 1,
    principal: "ada",
    state
  }
  enter({ toolId, arguments: effect.arguments }, operation)
}

const forgets: CrashScenario = {
  name: "a store that forgets",
  openStore: () => Promise.resolve({ store: new MemoryThreadStore(), close: () => Promise.resolve() }),
  open: actorOf
}

const repeats: CrashScenario = {
  name: "a recovery that repeats",
  openStore,
  open: (world) => {
    const actor = actorOf(world)
    return {
      ...actor,
      recover: async () => {
        await actor.recover()
        again(world.outside)
      }
    }
  }
}

const stops: CrashScenario = {
  name: "a recovery that does nothing",
  openStore,
  open: (world) => ({ ...actorOf(world), recover: () => Promise.resolve() })
}

await crashProgram([forgets, repeats, stops])
