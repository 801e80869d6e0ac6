// What hosts pass on from outside may be anything: what could not be read again is refused before it counts.
import type { ResumeTicket } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { TestClock } from "@toolwright/testing"
import { type PromiseRuntime, RunError } from "../src/index.js"
import { ask, call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

/** JSON of a request body, as a host would pass it on. */
const foreign = (value: unknown): never => value as never

/** Lets time pass until the run is over. */
const over = async <A>(clock: TestClock, running: Promise<A>): Promise<A> => {
  for (let turn = 0; turn < 10; turn++) {
    await settle()
    clock.advance(60_000)
  }
  return running
}

const waitingWorld = async () => {
  const sent: Array<string> = []
  const world = makeWorld({
    script: [{ calls: [call("mail")] }, "done"],
    gate: { id: "asks", decide: () => ask() },
    tools: () => [rawTool({ id: "mail" }, () => void sent.push("mail"))]
  })
  const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
  const [ticket] = outcome.tickets
  if (ticket === undefined) throw new Error("no ticket")
  return { ...world, ticket, sent, inbox: () => Effect.runPromise(world.memory.inbox(ticket.threadId)) }
}

const errorOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error
  )

const answers: ReadonlyArray<readonly [string, unknown]> = [
  ["a reason that is no text", { _tag: "Deny", reason: { because: 1 } }],
  ["a reason that is null", { _tag: "Deny", reason: null }],
  ["a field that no answer has", { _tag: "Deny", approved: true }],
  ["a note that is a number", { _tag: "Allow", note: 5 }],
  ["a note in a circle", { _tag: "Allow", note: cyclic }],
  ["a tag in a list", { _tag: ["Allow"] }],
  ["a tag that only prints well", { _tag: { toString: () => "Allow" } }]
]

describe("answers", () => {
  it.each(answers)("[H3] %s is refused, and the ticket is as it was", async (_, answer) => {
    const { runtime, ticket, sent, inbox } = await waitingWorld()
    const error = await errorOf(runtime.resume(ticket.id, foreign(answer), { approver: "bob" }))
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({ reason: { _tag: "BadRequest" } })
    expect([sent.length, await inbox()]).toEqual([0, []])
    const outcome = await runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "bob" })
    expect([outcome.disposition._tag, sent.length]).toEqual(["Ended", 1])
  })

  it("[E2] a getter that throws in an answer is a typed error", async () => {
    const { runtime, ticket } = await waitingWorld()
    const answer = {
      get _tag(): never {
        throw new Error("never")
      }
    }
    const error = await errorOf(runtime.resume(ticket.id, foreign(answer), { approver: "bob" }))
    expect(error).toMatchObject({ name: "RunError", reason: { _tag: "Internal" } })
  })

  it("[H3] an answer that is changed after it was accepted stays as it was", async () => {
    const { runtime, ticket, watched } = await waitingWorld()
    const answer: { -readonly [K in keyof Deny]: Deny[K] } = { _tag: "Deny", reason: "no" }
    const resumed = runtime.resume(ticket.id, answer, { approver: "bob" })
    queueMicrotask(() => (answer.reason = "yes"))
    await resumed
    const audit = watched.commits.flatMap((commit) => commit.audit).filter(({ type }) => type === "Answer")
    expect(audit.map(({ detail }) => detail)).toEqual(["no"])
  })
})

type Deny = Extract<ResumeTicket.ResumeAnswer, { readonly _tag: "Deny" }>

type Asking = (runtime: PromiseRuntime, threadId: string) => Promise<unknown>

const requests: ReadonlyArray<readonly [string, Asking]> = [
  ["a stop without a reason", (runtime, threadId) => runtime.stop(foreign({ threadId }))],
  ["a stop whose reason is a number", (runtime, threadId) => runtime.stop(foreign({ threadId, reason: 5 }))],
  ["a cancel by a number", (runtime, threadId) => runtime.cancel(foreign({ threadId, by: 5 }))],
  ["a pause by a circle", (runtime, threadId) => runtime.pause(foreign({ threadId, by: cyclic }))],
  ["a message by a number", (runtime, threadId) => runtime.steer(foreign({ threadId, input: "hi", by: 4 }))],
  [
    "an interruption that is a text",
    (runtime, threadId) => runtime.steer(foreign({ threadId, input: "hi", interrupt: "no" }))
  ]
]

describe("requests", () => {
  it.each(requests)("[L8] %s is refused and leaves nothing in the inbox", async (_, asking) => {
    const { runtime, ticket, inbox } = await waitingWorld()
    expect(await errorOf(asking(runtime, ticket.threadId))).toMatchObject({ reason: { _tag: "BadRequest" } })
    expect(await inbox()).toEqual([])
  })

  it("[L8] a stop without a reason is refused while the run is at work, too", async () => {
    const { runtime, tools, clock } = makeWorld({
      script: [{ calls: [call("slow")] }],
      tools: () => [rawTool({ id: "slow" }, () => new Promise(() => {}))]
    })
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "go", principal: "ada" })
    const error = await errorOf(runtime.stop(foreign({ threadId: running.threadId })))
    expect(error).toMatchObject({ reason: { _tag: "BadRequest", option: "reason" } })
    running.cancel()
    await over(clock, running)
  })

  it("[E2] null where there are options is a typed error", async () => {
    const { runtime } = await waitingWorld()
    expect(await errorOf(runtime.cancel(foreign(null)))).toBeInstanceOf(RunError)
  })
})

const resolutions: ReadonlyArray<readonly [string, unknown]> = [
  ["nothing", undefined],
  ["an unknown word", { _tag: "Perhaps" }],
  ["no content", { _tag: "Happened" }],
  ["content of an unknown kind", { _tag: "Happened", content: [{ type: "smoke" }] }]
]

describe("settlements", () => {
  it.each(resolutions)("[R12] %s settles nothing, and the thread goes on", async (_, resolution) => {
    const { runtime, tools, clock, memory } = makeWorld({
      script: [{ calls: [call("deaf")] }, "done", "done"],
      tools: () => [rawTool({ id: "deaf" }, () => new Promise(() => {}))]
    })
    const snapshot = snapshotOf(tools)
    const running = runtime.run({ snapshot, input: "go", principal: "ada" })
    const { threadId } = await over(clock, running)
    const view = await Effect.runPromise(memory.load(threadId))
    const [operationId = ""] = view?.openOutcomes.keys() ?? []
    const error = await errorOf(runtime.resolve(foreign({ threadId, operationId, resolution, by: "bob" })))
    expect(error).toMatchObject({ reason: { _tag: "BadRequest" } })
    const next = await runtime.run({ snapshot, input: "again", principal: "ada", threadId })
    expect(next.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  })
})
