// An option that is passed over is a limit, a check or a thread that its author believes to be there: every method says so.
import { PermissionGate, type TicketRefused } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { type PromiseRuntime, type RunError, Runtime, type RuntimeDefinitionError } from "../src/index.js"
import { ask, call, rawTool, snapshotOf } from "./support/world.js"

const world = () => {
  const tools = [rawTool({ id: "look" })]
  const runtime = Runtime.make({ llm: new ScriptedLlm(() => "done"), gate: PermissionGate.allowAll, tools })
  return { runtime, snapshot: snapshotOf(tools) }
}

type Ask = (runtime: PromiseRuntime, options: never) => PromiseLike<unknown>

/** The place that an error of a method names. */
const placeOf = async (asked: () => PromiseLike<unknown>): Promise<string> => {
  try {
    await asked()
  } catch (error) {
    const { reason, message } = error as RunError
    return reason._tag === "BadRequest" ? message : `${reason._tag}: ${message}`
  }
  return "accepted"
}

const answering: Ask = (runtime, options) => runtime.resume("ticket", { _tag: "Allow" }, options)
const ref = { threadId: "thread" }

const misspelt: ReadonlyArray<readonly [string, Ask, object, string]> = [
  ["resume", answering, { approver: "ada", exect: {} }, "exect: expected expect"],
  ["resume", answering, { approver: "ada", expect: { digets: "x" } }, "expect/digets: expected digest"],
  ["resume", answering, { approver: "ada", remember: { scop: "run" } }, "remember/scop: expected scope"],
  ["cancel", (runtime, options) => runtime.cancel(options), { ...ref, runID: "x" }, "runID: expected runId"],
  ["stop", (runtime, options) => runtime.stop(options), { ...ref, raeson: "x" }, "raeson: expected reason"],
  ["pause", (runtime, options) => runtime.pause(options), { thread: "x" }, "thread: expected threadId"],
  ["unpause", (runtime, options) => runtime.unpause(options), { ...ref, bye: "x" }, "bye: expected by"],
  [
    "steer",
    (runtime, options) => runtime.steer(options),
    { ...ref, input: "x", interupt: true },
    "interupt: expected interrupt"
  ],
  ["resolve", (runtime, options) => runtime.resolve(options), { ...ref, operation: "x" }, "operation: expected"],
  ["recover", (runtime, options) => runtime.recover(options), { limt: 1 }, "limt: expected limit"],
  [
    "work",
    (runtime, options: object) => runtime.work({ ...options, signal: new AbortController().signal }),
    { evry: 1 },
    "evry: expected every"
  ],
  [
    "describeTools",
    (runtime, options) => runtime.describeTools(options),
    { snapshut: {} },
    "snapshut: expected snapshot"
  ],
  ["previewGrant", (runtime, options) => runtime.previewGrant(options), { tiketId: "x" }, "tiketId: expected ticketId"],
  ["grants", (runtime, options) => runtime.grants(options), { principle: "x" }, "principle: expected principal"],
  ["revokeGrant", (runtime, options) => runtime.revokeGrant(options), { grantID: "x" }, "grantID: expected grantId"],
  ["verifyAudit", (runtime, options) => runtime.verifyAudit(options), { ...ref, expcted: "x" }, "expcted: expected"],
  ["close", (runtime, options) => runtime.close(options), { grce: 1 }, "grce: expected grace"],
  [
    "watch",
    (runtime, options) => Promise.resolve().then(() => runtime.watch(options)),
    { ...ref, form: 1 },
    "form: expected from"
  ]
]

describe("a misspelt option", () => {
  it.each(misspelt)("[L1] of %s is refused with the one that was meant", async (_, ask, options, expected) => {
    const said = await placeOf(() => ask(world().runtime, options as never))
    expect(said).toMatch(expected)
    expect(said).toMatch("there is no such option")
  })

  it("[L1] of run starts nothing", async () => {
    const { runtime, snapshot } = world()
    const given = { snapshot, input: "go", principal: "ada", threadId: "thread", narowing: "DenyAll" }
    expect(await placeOf(() => runtime.run(given))).toBe("narowing: expected narrowing; there is no such option")
    expect(await placeOf(() => runtime.cancel(ref))).toBe("NotFound: there is no run on thread thread")
  })

  it("[L1] of run is told to whoever reads events as well, and leaves no stray rejection", async () => {
    const { runtime, snapshot } = world()
    const stray: Array<unknown> = []
    const note = (error: unknown): void => void stray.push(error)
    process.on("unhandledRejection", note)
    const given = { snapshot, input: "go", principal: "ada", limits: {} }
    expect(() => runtime.run(given).events()).toThrow("limits: expected one of")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", note)
    expect(stray).toEqual([])
  })
})

const wrong: ReadonlyArray<readonly [string, Ask, unknown, string]> = [
  ["nothing", (runtime, options) => runtime.cancel(options), undefined, "options: expected an object"],
  ["no thread", (runtime, options) => runtime.cancel(options), {}, "threadId: expected a name"],
  [
    "a number for a thread",
    (runtime, options) => runtime.cancel(options),
    { threadId: 5 },
    "threadId: expected a name"
  ],
  ["no reason to stop", (runtime, options) => runtime.stop(options), ref, "reason: expected a text"],
  [
    "a word for a flag",
    (runtime, options) => runtime.steer(options),
    { ...ref, input: "x", interrupt: "no" },
    "interrupt: expected true or false"
  ],
  ["a thread without take-over", (runtime, options) => runtime.recover(options), ref, "takeOver: expected true"],
  [
    "a take-over that is none",
    (runtime, options) => runtime.recover(options),
    { ...ref, takeOver: false },
    "takeOver: expected true"
  ],
  [
    "a limit of many",
    (runtime, options) => runtime.recover(options),
    { limit: "many" },
    "limit: expected a whole number"
  ],
  [
    "a pause that is no number",
    (runtime, options: object) => runtime.work({ ...options, signal: new AbortController().signal }),
    { every: "1s" },
    "every: expected milliseconds"
  ],
  ["work without a signal", (runtime, options) => runtime.work(options), {}, "signal: expected an AbortSignal"],
  ["work without options", (runtime, options) => runtime.work(options), undefined, "options: expected an object"],
  ["a grace in words", (runtime, options) => runtime.close(options), { grace: "1s" }, "grace: expected milliseconds"],
  [
    "a fact in words",
    (runtime, options) => Promise.resolve().then(() => runtime.watch(options)),
    { ...ref, from: "one" },
    "from: expected the number of a fact"
  ],
  [
    "a head that is none",
    (runtime, options) => runtime.verifyAudit(options),
    { ...ref, expected: 3 },
    "expected: expected a text"
  ]
]

describe("a run that is named by what the runtime gave", () => {
  it("[L1] is found by a whole outcome, and by a whole handle", async () => {
    const tools = [rawTool({ id: "look" })]
    const llm = new ScriptedLlm([{ calls: [call("look")] }, { calls: [call("look")] }])
    const runtime = Runtime.make({ llm, gate: { id: "asks", decide: () => ask() }, tools })
    const options = { snapshot: snapshotOf(tools), input: "go", principal: "ada" }
    const cancelled = { _tag: "Ended", cause: { _tag: "Cancelled" } }
    const outcome = await runtime.run(options)
    expect((await runtime.cancel(outcome)).disposition).toEqual(cancelled)
    const handle = runtime.run(options)
    await handle
    const stopped = await runtime.stop(Object.assign(handle, { reason: "enough" }))
    expect(stopped.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Stopped", reason: "enough" } })
  })
})

describe("an option of the wrong kind", () => {
  it.each(wrong)("[L1] %s is refused with what was expected", async (_, ask, options, expected) => {
    expect(await placeOf(() => ask(world().runtime, options as never))).toMatch(expected)
  })

  it("[H2] an answer from nobody stays an answer that is refused", async () => {
    const { runtime } = world()
    const refused = await runtime.resume("ticket", { _tag: "Allow" }, undefined as never).then(
      () => "accepted",
      (error: TicketRefused) => error.reason
    )
    expect(refused).toBe("NotEligible")
  })
})

const unbuilt: ReadonlyArray<readonly [string, object]> = [
  ["owner", { owner: 5 }],
  ["idSource", { idSource: "x" }],
  ["clock", { clock: {} }],
  ["crashPoint", { crashPoint: 5 }],
  ["redact", { redact: "x" }],
  ["spill", { spill: {} }],
  ["domains/x", { domains: { x: 5 } }],
  ["executors", { executors: 5 }],
  ["executors/Brian", { executors: { Brian: {} } }],
  ["executors/Sandbox", { executors: { Sandbox: {} } }],
  ["policies", { policies: {} }],
  ["policies/0", { policies: [{}] }],
  ["policies/1/id", { policies: [PermissionGate.allowAll, PermissionGate.allowAll] }],
  ["stateKeys", { stateKeys: 1 }],
  ["plugins", { plugins: {} }],
  ["hooks", { hooks: {} }],
  ["hooks/0/beforInference", { hooks: [{ id: "h", beforInference: () => ({}) }] }],
  ["hooks/0/afterTool", { hooks: [{ id: "h", afterTool: {} }] }],
  ["guards", { guards: {} }],
  ["store", { store: { commit: () => undefined } }],
  ["limits", { limits: "x" }]
]

describe("a runtime", () => {
  it.each(unbuilt)("[L1] does not build with %s of the wrong kind", (option, given) => {
    const make = (): unknown =>
      Runtime.make({ llm: new ScriptedLlm([]), gate: PermissionGate.allowAll, tools: [], ...given })
    expect(make).toThrow(expect.objectContaining({ option } satisfies Partial<RuntimeDefinitionError>))
  })
})
