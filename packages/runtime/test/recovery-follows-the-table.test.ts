import {
  type CrashPoint,
  CrashPoint as Points,
  type PermissionGate,
  type RawTool,
  ToolOutput,
  type ToolRecovery
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import {
  EffectRecorder,
  type RecordedToolOptions,
  type Script,
  type ScriptedCall,
  TestClock
} from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import type { RunOutcome } from "../src/index.js"
import { ask, call, dropAt, makeWorld, settle, snapshotOf } from "./support/world.js"

const principal = "ada"
const allow: PermissionGate.PermissionGate = { id: "allow", decide: () => ({ _tag: "Allow" }) }

interface Crash {
  readonly at: CrashPoint.CrashPointName
  readonly recovery?: ToolRecovery.ToolRecoveryCapability
  readonly tool?: Partial<RecordedToolOptions>
  readonly script?: Script
  readonly laterTools?: (recorder: EffectRecorder) => ReadonlyArray<RawTool.RawTool>
  readonly laterGate?: PermissionGate.PermissionGate
  readonly times?: number
}

/** Asks for the calls until it sees a result, as a model would that is asked again after a crash. */
const answering =
  (calls: ReadonlyArray<ScriptedCall>): Script =>
  (request) =>
    request.messages.at(-1)?.role === "tool" ? "Done." : { calls }

/** One owner is dropped at a point; another, over the same store and outside world, recovers when the lease is over. */
const crash = async (given: Crash) => {
  const clock = new TestClock(1_000)
  const memory = new MemoryThreadStore({ now: clock.now })
  const recorder = new EffectRecorder()
  const make = (recording: EffectRecorder) => [
    recording.tool({ id: "act", recovery: given.recovery ?? "NonRecoverable", ...given.tool })
  ]
  const script = given.script ?? answering([call("act")])
  const common = { memory, clock, recorder, tools: make, leaseTtl: 1_000 }
  const first = makeWorld({ ...common, script, gate: allow, crashPoint: dropAt(given.at, given.times ?? 1) })
  const snapshot = snapshotOf(first.tools)
  const crashed = await first.runtime.run({ snapshot, input: "hi", principal, threadId: "t" }).then(
    () => "finished",
    (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
  )
  await settle()
  const second = makeWorld({ ...common, tools: given.laterTools ?? make, script, gate: given.laterGate ?? allow })
  expect(await second.runtime.recover()).toEqual([])
  clock.advance(1_000)
  const recovered = await second.runtime.recover()
  return { ...second, crashed, recorder, recovered, outcome: recovered[0]?.outcome, memory, clock, snapshot, first }
}

const result = (outcome: { readonly messages: { at: (index: number) => unknown } } | undefined): object =>
  (outcome?.messages.at(2) ?? {}) as object

/** Behind `Executing` and before its outcome is durable: here, and only here, nobody can know. */
const mayBeUnknown = new Set<string>([
  "open.afterCommit",
  "dispatch.before",
  "dispatch.after",
  "outcome.known",
  "publication.assembled",
  "publish.beforeCommit"
])

const endOf = (outcome: RunOutcome | undefined): string | undefined =>
  outcome?.disposition._tag === "Ended" ? outcome.disposition.cause._tag : undefined

describe("recovery follows the table", () => {
  it("[R8] at every point of a one-tool run: NeverReplay is entered at most once, and the run comes to its end", async () => {
    const met: Array<string> = []
    const wrong: Array<unknown> = []
    for (const at of Points.names) {
      const { crashed, recorder, recovered, outcome } = await crash({ at })
      if (crashed === "finished") continue
      met.push(at)
      const told = (result(outcome) as { readonly outcome?: string }).outcome
      const seen = { entries: recorder.effects.length, end: endOf(outcome), told }
      const isRight =
        at === "start.beforeCommit" || at === "claimed"
          ? recovered.length === 0 && seen.entries === 0
          : at === "end.afterCommit" || at === "release.before" || at === "release.after"
            ? recovered.length === 0 && seen.entries === 1
            : seen.end === "NaturalEnd" &&
              (told === "Completed" ? seen.entries === 1 : told === "Indeterminate" && mayBeUnknown.has(at))
      if (!isRight) wrong.push({ at, ...seen })
    }
    expect(wrong).toEqual([])
    expect(met).toEqual([
      "claimed",
      "inference.before",
      "inference.after",
      "dispatch.before",
      "dispatch.after",
      "outcome.known",
      "publication.assembled",
      "start.beforeCommit",
      "start.afterCommit",
      "open.beforeCommit",
      "open.afterCommit",
      "publish.beforeCommit",
      "publish.afterCommit",
      "end.beforeCommit",
      "end.afterCommit",
      "release.before",
      "release.after"
    ])
  })

  it("[R8] a call that was entered and is NeverReplay is not repeated, and is told as possibly happened", async () => {
    const { outcome, recorder, watched } = await crash({ at: "dispatch.after" })
    expect(recorder.effects.length).toBe(1)
    expect(result(outcome)).toMatchObject({ outcome: "Indeterminate", isError: true })
    expect(JSON.stringify(result(outcome))).toContain("it may have happened")
    expect(watched.summary[0]).toBe("Publish 0:Indeterminate")
    expect(watched.commits[0]?.audit).toMatchObject([{ type: "Recovery", outcome: "Indeterminate" }])
  })

  it("[R8] other modes enter again, as the next durable attempt of the same operation", async () => {
    for (const recovery of ["ReplaySafe", "Idempotent", "DurableRequest"] as const) {
      const { outcome, recorder, watched } = await crash({ at: "dispatch.after", recovery })
      expect(recorder.effects.map(({ attempt }) => attempt)).toEqual([1, 2])
      expect(new Set(recorder.effects.map(({ operationId }) => operationId)).size).toBe(1)
      expect(watched.summary.slice(0, 2)).toEqual(["Change 0:Executing", "Publish 0:Completed"])
      expect(result(outcome)).toMatchObject({ outcome: "Completed" })
    }
  })

  it("[R8] a replay whose deny side now forbids it is Indeterminate, and a NeverReplay call is not asked about", async () => {
    const denying: PermissionGate.PermissionGate = { ...allow, denies: () => "no more" }
    const { outcome, recorder } = await crash({ at: "dispatch.after", recovery: "ReplaySafe", laterGate: denying })
    expect([recorder.effects.length, result(outcome)]).toMatchObject([1, { outcome: "Indeterminate" }])
  })

  it("[R9] attempts are counted over crashes, and spent attempts are Indeterminate", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const tools = (recording: EffectRecorder) => [recording.tool({ id: "act", recovery: "ReplaySafe" })]
    const common = { memory, clock, recorder, tools, leaseTtl: 1_000, gate: allow }
    const first = makeWorld({ ...common, script: [{ calls: [call("act")] }], crashPoint: dropAt("dispatch.after") })
    await first.runtime
      .run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
      .catch(() => undefined)
    for (let turn = 0; turn < 2; turn++) {
      clock.advance(1_000)
      await makeWorld({ ...common, script: [], crashPoint: dropAt("dispatch.after") }).runtime.recover()
    }
    clock.advance(1_000)
    const [last] = await makeWorld({ ...common, script: ["Done."] }).runtime.recover()
    expect(recorder.effects.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(result(last?.outcome)).toMatchObject({ outcome: "Indeterminate" })
  })

  it("[R5] the outside world is asked before a call is repeated or given up", async () => {
    const answers: ReadonlyArray<
      readonly [RawTool.Reconciliation, ToolRecovery.ToolRecoveryCapability, number, string]
    > = [
      [{ _tag: "Happened", output: ToolOutput.ok("other", "it did") }, "NonRecoverable", 1, "Completed"],
      [{ _tag: "Happened", output: ToolOutput.ok("other", "it did") }, "ReplaySafe", 1, "Completed"],
      [{ _tag: "NotSent" }, "NonRecoverable", 1, "Indeterminate"],
      [{ _tag: "NotSent" }, "DurableRequest", 2, "Completed"],
      [{ _tag: "Unknown" }, "NonRecoverable", 1, "Indeterminate"],
      [{ _tag: "Unknown" }, "Idempotent", 2, "Completed"]
    ]
    for (const [answer, recovery, entries, expected] of answers) {
      const { recorder, outcome } = await crash({
        at: "dispatch.after",
        recovery,
        tool: { reconcile: () => Promise.resolve(answer) }
      })
      expect([answer._tag, recovery, recorder.effects.length, result(outcome)]).toMatchObject([
        answer._tag,
        recovery,
        entries,
        { outcome: expected }
      ])
    }
  })

  it("[R5] a reconciliation that throws, or answers nonsense, is Unknown", async () => {
    for (const reconcile of [
      () => {
        throw new Error("no")
      },
      () => Promise.reject(new Error("no")),
      () => ({ _tag: "Maybe" })
    ])
      expect(
        result((await crash({ at: "dispatch.after", tool: { reconcile: reconcile as never } })).outcome)
      ).toMatchObject({ outcome: "Indeterminate" })
  })

  it("[R5] a call that is still in progress elsewhere is asked after again, and adopted when it is done", async () => {
    let asked = 0
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const reconcile = (): RawTool.Reconciliation =>
      ++asked < 3
        ? { _tag: "InProgress", retryAfter: 200 }
        : { _tag: "Happened", output: ToolOutput.ok("", "done there") }
    const common = {
      memory,
      clock,
      recorder,
      leaseTtl: 1_000,
      gate: allow,
      tools: (recording: EffectRecorder) => [recording.tool({ id: "act", reconcile })]
    }
    const first = makeWorld({ ...common, script: [{ calls: [call("act")] }], crashPoint: dropAt("dispatch.after") })
    await first.runtime
      .run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
      .catch(() => undefined)
    clock.advance(1_000)
    const recovering = makeWorld({ ...common, script: ["Done."] }).runtime.recover()
    for (let turn = 0; turn < 3; turn++) {
      await settle()
      clock.advance(200)
    }
    const [recovered] = await recovering
    expect(asked).toBe(3)
    expect(result(recovered?.outcome)).toMatchObject({ outcome: "Completed", content: [{ text: "done there" }] })
  })

  it("[N2] a tool that changed is not run before it was entered, and is Indeterminate after", async () => {
    const changed = (recorder: EffectRecorder) => [recorder.tool({ id: "act", version: "2" })]
    const after = await crash({ at: "dispatch.before", laterTools: changed })
    expect([after.recorder.effects.length, result(after.outcome)]).toMatchObject([0, { outcome: "Indeterminate" }])

    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const serial = { _tag: "Serial" } as const
    const tools = (recording: EffectRecorder) => [
      recording.tool({ id: "act", concurrency: serial }),
      recording.tool({ id: "next", concurrency: serial })
    ]
    const common = { memory, clock, recorder, leaseTtl: 1_000, gate: allow }
    const first = makeWorld({
      ...common,
      tools,
      script: [{ calls: [call("act"), call("next")] }],
      crashPoint: dropAt("dispatch.after")
    })
    await first.runtime
      .run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
      .catch(() => undefined)
    clock.advance(1_000)
    const later = (recording: EffectRecorder) => [
      recording.tool({ id: "act", concurrency: serial }),
      recording.tool({ id: "next", version: "2", concurrency: serial })
    ]
    const [recovered] = await makeWorld({ ...common, tools: later, script: ["Done."] }).runtime.recover()
    expect(recovered?.outcome?.messages.at(3)).toMatchObject({
      outcome: "NotRun",
      content: [{ text: expect.stringContaining("changed") as string }]
    })
    expect(recorder.effects.map(({ toolId }) => toolId)).toEqual(["act"])
  })

  it("[R8] a call that was requested and never entered is gated again, and runs", async () => {
    const { recorder, outcome, watched } = await crash({
      at: "change.beforeCommit",
      script: answering([call("act"), call("act")]),
      tool: { concurrency: { _tag: "Serial" }, recovery: "ReplaySafe" }
    })
    expect(recorder.effects.map(({ operationId, attempt }) => [operationId.split("/").at(-1), attempt])).toEqual([
      ["0", 1],
      ["0", 2],
      ["1", 1]
    ])
    expect(watched.commits.flatMap((commit) => commit.audit).map((record) => record.type)).toContain("Decision")
    expect(outcome?.text).toBe("Done.")
  })

  it("[H4] a crash between the approval and the call runs it after the restart, once", async () => {
    for (const at of [
      "signal.accepted",
      "approve.beforeCommit",
      "approve.afterCommit",
      "change.beforeCommit"
    ] as const) {
      const clock = new TestClock(1_000)
      const memory = new MemoryThreadStore({ now: clock.now })
      const recorder = new EffectRecorder()
      const asks: PermissionGate.PermissionGate = { id: "asks", decide: () => ask() }
      const common = {
        memory,
        clock,
        recorder,
        leaseTtl: 1_000,
        gate: asks,
        tools: (recording: EffectRecorder) => [recording.tool({ id: "act" })]
      }
      const first = makeWorld({ ...common, script: [{ calls: [call("act")] }], crashPoint: dropAt(at) })
      const waiting = await first.runtime.run({
        snapshot: snapshotOf(first.tools),
        input: "hi",
        principal,
        threadId: "t"
      })
      await first.runtime
        .resume(waiting.tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
        .catch(() => undefined)
      expect(recorder.effects.length, at).toBe(0)
      clock.advance(1_000)
      const [recovered] = await makeWorld({ ...common, script: ["Done."] }).runtime.recover()
      expect([at, recorder.effects.length, recovered?.outcome?.text]).toEqual([at, 1, "Done."])
    }
  })

  it("[R10] a takeover by name fences a live owner, and the late result of its tool changes nothing", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const common = {
      memory,
      clock,
      recorder,
      gate: allow,
      tools: (recording: EffectRecorder) => [recording.tool({ id: "act" })]
    }
    const first = makeWorld({ ...common, script: [{ calls: [call("act")] }, "First."] })
    const release = recorder.hold("act")
    const running = first.runtime.run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
    running.catch(() => undefined)
    await recorder.whenEntered(1)
    const second = makeWorld({ ...common, script: ["Second."] })
    const [taken] = await second.runtime.recover({ threadId: "t", takeOver: true })
    release()
    await expect(running).rejects.toMatchObject({ reason: { _tag: "Fenced" } })
    expect(taken?.outcome?.text).toBe("Second.")
    expect(result(taken?.outcome)).toMatchObject({ outcome: "Indeterminate" })
    expect(recorder.effects.length).toBe(1)
  })
})
