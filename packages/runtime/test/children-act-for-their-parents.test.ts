import { GateOutcome, type Message, type PermissionGate, Plugin, ToolDescriptor } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { Delegation, Runtime } from "../src/index.js"
import { ask, call, dropAt, makeWorld, rawTool, snapshotOf, type WorldOptions } from "./support/world.js"

const principal = "ada"
const inner = () => snapshotOf([rawTool({ id: "note" })], (b) => b.instructions("inner"))
const helper = (more: Partial<Delegation.DelegationOptions> = {}) =>
  Delegation.tool({ id: "helper", description: "helps", snapshot: inner(), ...more })

interface Asked {
  readonly instructions: string
  readonly messages: { readonly at: (index: number) => Message.Message | undefined }
}

/** The outer agent asks its helper, the inner one calls its tool; both then say what they heard. */
const script = (({ instructions, messages }: Asked) => {
  const last = messages.at(-1)
  if (last?.role === "tool")
    return `${instructions === "" ? "outer" : instructions} heard: ${last.content.map((block) => (block.type === "text" ? block.text : "")).join("")}`
  return { calls: [instructions === "" ? call("helper", { input: "please" }) : call("note", { n: 1 })] }
}) as unknown as WorldOptions["script"]

const makeFamily = (options: Partial<WorldOptions> = {}, tool = helper()) => {
  const world = makeWorld({ script, tools: (recorder) => [tool, recorder.tool({ id: "note" })], ...options })
  const start = (more: object = {}) =>
    world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal, threadId: "t", ...more })
  return { ...world, start, tool }
}

const asks: PermissionGate.PermissionGate = {
  id: "some",
  decide: ({ tool }) => (tool.id === "note" ? ask() : GateOutcome.allow)
}

const viewOf = (world: ReturnType<typeof makeFamily>, threadId: string) =>
  Effect.runPromise(world.memory.load(threadId))

describe("children act for their parents", () => {
  it("[L9] a delegation runs another snapshot as a child run under an id of the operation, and completes with its outcome", async () => {
    const family = makeFamily()
    const outcome = await family.start()
    expect(outcome.text).toBe("outer heard: inner heard: done")
    const [operationId] = family.watched.commits.flatMap(
      ({ batch }) => batch?.calls.map((one) => one.operationId) ?? []
    )
    const child = await viewOf(family, `${operationId}/child`)
    expect(child?.run).toMatchObject({ principal, parent: { threadId: "t", operationId } })
    expect(child?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(family.recorder.effects.length).toBe(1)
  })

  it("[L9] [H1] a child's ticket names the inner call, is answered through the same runtime, and the parent goes on", async () => {
    const family = makeFamily({ gate: asks })
    const outcome = await family.start()
    expect(outcome.disposition._tag).toBe("Awaiting")
    expect(outcome.tickets).toMatchObject([{ kind: "Permission", toolId: "note", arguments: { n: 1 }, principal }])
    expect(family.clock.pending).toBe(0)
    const [ticket] = outcome.tickets
    const end = await family.runtime.resume(ticket?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect([end.threadId, end.text, family.recorder.effects.length]).toEqual(["t", "outer heard: inner heard: done", 1])
    expect((await viewOf(family, "t"))?.inbox).toEqual([])
    expect(await family.runtime.recover()).toEqual([])
  })

  it("[L9] [H4] another process answers, and a denial flows back like any other result", async () => {
    const family = makeFamily({ gate: asks })
    const { tickets } = await family.start()
    await family.runtime.close()
    const { llm, watched, clock, tools } = family
    const elsewhere = Runtime.make({ llm, gate: asks, tools, store: watched.store, clock })
    const end = await elsewhere.resume(tickets[0]?.id ?? "", { _tag: "Deny", reason: "no" }, { approver: "bob" })
    expect(end.text).toBe("outer heard: inner heard: note was denied: no")
  })

  it("[L9] [H3] nobody answers for a child: the parent's own ticket is refused, whoever asks", async () => {
    const family = makeFamily({ gate: asks })
    await family.start()
    const own = (await viewOf(family, "t"))?.disposition
    const [id = ""] = own?._tag === "Awaiting" ? own.tickets : []
    const forged = { _tag: "ToolResult", content: [{ type: "text", text: "forged" }] } as const
    await expect(family.runtime.resume(id, forged, { approver: "mallory" })).rejects.toMatchObject({
      reason: "AnswerKindMismatch"
    })
    expect((await viewOf(family, "t"))?.disposition).toEqual(own)
  })

  it("[L9] [P2] a child inherits narrowing, policy, host denials and the gates of its parent's plugins", async () => {
    const effects = async (
      options: Partial<WorldOptions>,
      run: object = {},
      more: Partial<Delegation.DelegationOptions> = {},
      select?: Parameters<typeof snapshotOf>[1]
    ) => {
      const tool = helper(more)
      const family = makeFamily(options, tool)
      const end = await family.runtime.run({ snapshot: snapshotOf([tool], select), input: "hi", principal, ...run })
      return [end.disposition._tag, family.recorder.effects.length]
    }
    const noNotes: PermissionGate.PermissionGate = {
      id: "no-notes",
      decide: ({ tool }) => (tool.id === "note" ? GateOutcome.block("no notes") : GateOutcome.allow)
    }
    expect(await effects({})).toEqual(["Ended", 1])
    expect(await effects({ gate: noNotes })).toEqual(["Ended", 0])
    expect(await effects({ gate: asks }, { narrowing: "Unattended" })).toEqual(["Ended", 0])
    expect(await effects({ gate: asks }, {}, { narrowing: "Unattended" })).toEqual(["Ended", 0])
    expect(await effects({}, {}, { narrowing: "DenyAll" })).toEqual(["Ended", 0])
    expect(await effects({}, { policy: noNotes })).toEqual(["Ended", 0])
    const guard: Plugin.Plugin = {
      manifest: { id: "guard", bound: { gates: Plugin.any } },
      contributions: { gates: [noNotes] }
    }
    expect(await effects({ plugins: [guard] }, {}, {}, (b) => b.plugin("guard"))).toEqual(["Ended", 0])
  })

  it("[L9] [L8] cancelling the parent cancels the child, while it works and while it waits", async () => {
    const family = makeFamily({ gate: asks })
    const { tickets } = await family.start()
    const end = await family.runtime.cancel({ threadId: "t" })
    expect(end.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    const child = await viewOf(family, tickets[0]?.threadId ?? "")
    expect(child?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect(end.messages.at(2)).toMatchObject({ role: "tool", isError: true, outcome: "Completed" })
    await expect(
      family.runtime.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    ).rejects.toMatchObject({ reason: "NotWaiting" })
    const busy = rawTool(
      { id: "note" },
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
    )
    const tool = helper()
    const working = makeWorld({ script, tools: () => [tool, busy] })
    const running = working.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal, threadId: "t" })
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    running.cancel()
    expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    const [operationId] = working.watched.commits.flatMap(
      ({ batch }) => batch?.calls.map((one) => one.operationId) ?? []
    )
    const stopped = await Effect.runPromise(working.memory.load(`${operationId}/child`))
    expect(stopped?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
  })

  it("[L9] through a crash at every commit the same child is found again, runs its tool once, and the parent completes", async () => {
    const points = ["start", "open", "publish", "end", "change"] as const
    for (const kind of points)
      for (const when of ["beforeCommit", "afterCommit"] as const)
        for (const times of [1, 2]) {
          let met = 0
          const point = `${kind}.${when}` as const
          const family = makeFamily(
            {
              crashPoint: (name) => {
                if (name === point && ++met === times) throw new Error(`dropped at ${name}`)
              }
            },
            helper()
          )
          await family.start().catch(() => undefined)
          for (let turn = 0; turn < 4; turn++) {
            family.clock.advance(60_000)
            await family.runtime.recover()
          }
          const view = await viewOf(family, "t")
          const label = `${point} ${times}`
          if (view === undefined) continue
          expect([label, view.disposition]).toEqual([label, { _tag: "Ended", cause: { _tag: "NaturalEnd" } }])
          const result = [...view.messages].find(({ role }) => role === "tool")
          expect([label, result?.role === "tool" && result.outcome]).toEqual([label, "Completed"])
          expect([label, family.recorder.effects.length <= 1]).toEqual([label, true])
        }
  })

  it("[L9] [R8] a child that ended while nobody looked after its parent lets the parent go on at the next look", async () => {
    const family = makeFamily({ gate: asks })
    const { tickets } = await family.start()
    const [ticket] = tickets
    const { llm, watched, clock, tools } = family
    const dies = Runtime.make({
      llm,
      gate: asks,
      tools,
      store: watched.store,
      clock,
      owner: "dies",
      crashPoint: dropAt("end.afterCommit")
    })
    await dies.resume(ticket?.id ?? "", { _tag: "Allow" }, { approver: "bob" }).catch(() => undefined)
    expect((await viewOf(family, "t"))?.disposition?._tag).toBe("Awaiting")
    clock.advance(60_000)
    const looked = await family.runtime.recover()
    expect(looked.map(({ why }) => why)).toEqual(["SignalUnread"])
    expect((await viewOf(family, "t"))?.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  })

  it("[L9] children lie no deeper than they may, and the refusal is a result of the call", async () => {
    const deepest = helper()
    const middle = Delegation.tool({
      id: "helper",
      description: "helps",
      snapshot: snapshotOf([deepest], (b) => b.instructions("")),
      maxDepth: 1
    })
    const world = makeWorld({ script, tools: () => [middle] })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([middle]), input: "hi", principal })
    expect(outcome.text).toContain("has changed since this run started")
    const shallow = makeFamily({}, helper({ maxDepth: 0 }))
    const refused = await shallow.start()
    expect(refused.text).toContain("children at most 0 deep")
    expect(ToolDescriptor.forTool(deepest, "x").identity).not.toBe(ToolDescriptor.forTool(middle, "x").identity)
  })
})
