import { ToolConcurrency } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { ask, call, makeWorld, settle, snapshotOf } from "./support/world.js"

describe("commits of a step", () => {
  it("[R7] a run without tools is two commits: the start, and the answer with the end", async () => {
    const { runtime, watched } = makeWorld({ script: ["Hello."] })
    await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal: "ada" })
    expect(watched.summary).toEqual(["start", "assistant > Ended NaturalEnd"])
    expect(watched.commits.map((commit) => commit.step)).toEqual([0, 1])
  })

  it("[R7] a one-tool run is four commits: start, (a) with Executing, (c), and the answer with the end", async () => {
    const { runtime, watched, tools } = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "note" })]
    })
    const outcome = await runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    expect(outcome.text).toBe("Done.")
    expect(watched.summary).toEqual([
      "start",
      "Open 0:Executing",
      "Publish 0:Completed",
      "assistant > Ended NaturalEnd"
    ])
    expect(watched.commits.map((commit) => commit.step)).toEqual([0, 1, 1, 2])
    expect(watched.commits.map((commit) => commit.expectedRevision)).toEqual([0, 1, 2, 3])
    expect(new Set(watched.commits.map((commit) => commit.id)).size).toBe(4)
  })

  it("[R7] an outcome never waits for a slower sibling, and the last one is published with the step", async () => {
    const { runtime, watched, recorder, tools } = makeWorld({
      script: [{ calls: [call("slow"), call("fast")] }, "Done."],
      tools: (recording) => [recording.tool({ id: "slow" }), recording.tool({ id: "fast" })]
    })
    const release = recorder.hold("slow")
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    await recorder.whenEntered(2)
    await settle()
    expect(watched.summary).toEqual(["start", "Open 0:Executing 1:Executing", "Change 1:Completed"])
    release()
    await running
    expect(watched.summary.slice(3)).toEqual(["Publish 0:Completed", "assistant > Ended NaturalEnd"])
  })

  it("[R7] outcomes of one turn go down together, with Executing of the calls they set free", async () => {
    const { runtime, watched, tools } = makeWorld({
      script: [{ calls: [call("write"), call("write"), call("read")] }, "Done."],
      tools: (recorder) => [
        recorder.tool({
          id: "write",
          concurrency: ToolConcurrency.Resources([{ access: "Write", namespace: "file", key: "a" }])
        }),
        recorder.tool({ id: "read" })
      ]
    })
    await runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    expect(watched.summary).toEqual([
      "start",
      "Open 0:Executing 1:Requested 2:Executing",
      "Change 0:Completed 1:Executing 2:Completed",
      "Publish 1:Completed",
      "assistant > Ended NaturalEnd"
    ])
  })

  it("[R7] Executing is never committed for a call that does not start at once", async () => {
    const { runtime, watched, tools } = makeWorld({
      script: [{ calls: [call("one"), call("one"), call("one")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "one" })]
    })
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ width: 1 }))
    await runtime.run({ snapshot, input: "hi", principal: "ada" })
    expect(watched.summary).toEqual([
      "start",
      "Open 0:Executing 1:Requested 2:Requested",
      "Change 0:Completed 1:Executing",
      "Change 1:Completed 2:Executing",
      "Publish 2:Completed",
      "assistant > Ended NaturalEnd"
    ])
  })

  it("[H6] all tickets of a batch go out with the message that asked, and the run is Awaiting only when nothing runs", async () => {
    const { runtime, watched, recorder, tools } = makeWorld({
      script: [{ calls: [call("free"), call("asked"), call("asked")] }],
      tools: (recording) => [recording.tool({ id: "free" }), recording.tool({ id: "asked" })],
      gate: { id: "mixed", decide: ({ tool }) => (tool.id === "asked" ? ask() : { _tag: "Allow" }) }
    })
    const release = recorder.hold("free")
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    await recorder.whenEntered(1)
    await settle()
    expect(watched.summary).toEqual(["start", "Open 0:Executing 1:Awaiting 2:Awaiting"])
    expect(watched.commits[1]?.tickets.map((ticket) => ticket.operationId.split("/").slice(1).join("/"))).toEqual([
      "1/1",
      "1/2"
    ])
    release()
    const outcome = await running
    expect(watched.summary.slice(2)).toEqual(["Change 0:Completed > Awaiting"])
    expect(outcome.tickets.map((ticket) => ticket.toolId)).toEqual(["asked", "asked"])
  })

  it("[R2] the operation id is run, step and position, and never the provider's call id", async () => {
    const { runtime, recorder, tools } = makeWorld({
      script: [
        { calls: [{ toolId: "note", callId: "x" }] },
        {
          calls: [
            { toolId: "note", callId: "y" },
            { toolId: "note", callId: "z" }
          ]
        },
        "Done."
      ],
      tools: (recording) => [recording.tool({ id: "note" })]
    })
    const { runId } = await runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    expect(recorder.effects.map((effect) => effect.operationId)).toEqual([
      `${runId}/1/0`,
      `${runId}/2/0`,
      `${runId}/2/1`
    ])
    expect(recorder.effects.map((effect) => effect.attempt)).toEqual([1, 1, 1])
  })
})
