import { getEventListeners } from "node:events"
import { describe, expect, it, vi } from "vitest"
import {
  around,
  boxed,
  callOf,
  entry,
  local,
  operation,
  registry,
  running,
  scratch,
  startParent,
  tools,
  until
} from "./world.js"
import { Sandbox, SandboxError, unsafeLocal } from "../src/index.js"

vi.setConfig({ testTimeout: 60_000 })

describe.each([
  ["the sandbox", boxed],
  ["the unsafe local executor", local]
] as const)("%s", (_, world) => {
  it("runs calls in a hand that stays warm, one per thread", async () => {
    const { text, sandbox } = await world()
    expect([await text("count"), await text("count"), await text("count", undefined, { threadId: "t2" })]).toEqual([
      "1",
      "2",
      "1"
    ])
    expect(sandbox.hands).toBe(2)
    expect(await Promise.all(["a", "b", "c"].map((value) => text("echo", value)))).toEqual(["a", "b", "c"])
  })

  it("[R1] operation ids cross, and declared state does", async () => {
    const { text, call } = await world()
    expect(JSON.parse(await text("operation"))).toEqual({ ...operation("t1", undefined), state: {} })
    const { content, state } = await call("state", undefined, { state: 1 })
    expect({ content, state }).toEqual({
      content: [{ type: "text", text: "1" }],
      state: [{ _tag: "Set", scope: "Thread", key: "k", merge: "Disjoint", value: 2 }]
    })
  })

  it("[E1] a tool's own failure is an answer, and its refusal of arguments is one to correct", async () => {
    const { text, sandbox } = await world()
    expect(await text("fail")).toBe("error: broken\nIt may have had an effect.")
    const refused = sandbox.invoke(callOf("refuse", undefined), {
      operation: operation("t1", undefined),
      signal: new AbortController().signal,
      progress: () => {}
    })
    await expect(refused).rejects.toMatchObject({
      reason: { _tag: "InvalidArguments", issues: [{ pointer: "/value", expected: "a", received: "b" }] },
      message: "not like that"
    })
    expect(await text("print")).toBe("quiet")
  })

  it("[E4] a call that was sent and lost with its hand is Execution, and the next call gets a new hand", async () => {
    const { text } = await world()
    expect(await text("count")).toBe("1")
    const beside = text("wait")
    expect(await text("exit")).toBe("Execution: the sandbox was lost while exit ran: it ended with code 3")
    expect(await beside).toContain("Execution: the sandbox was lost while wait ran")
    expect(await text("count")).toBe("1")
  })

  it("[T9] an output that does not fit the tool is unreadable, and never a failure", async () => {
    const { text } = await world()
    expect(await text("typed", '{"n":1}')).toBe('{"n":1}')
    expect(await text("typed", '{"n":"x"}')).toContain("error: The call completed, but its output could not be read")
    expect(await text("nothing")).toContain("error: The call completed, but its output could not be read")
    expect(await text("circular")).toContain("error: ")
    expect(await text("huge")).toContain("too long for the sandbox")
    expect(await text("echo", "still here")).toBe("still here")
  })

  it("[L3] a cancelled call is told, and a deaf one ends with its hand", async () => {
    const { text, sandbox } = await world({ limits: { grace: 100 } })
    const controller = new AbortController()
    const { signal } = controller
    const asked = [text("wait", undefined, { signal }), text("wait", undefined, { signal })]
    await text("echo", "sent")
    controller.abort(new Error("stop"))
    expect(await Promise.all(asked)).toEqual(["error: stop", "error: stop"])
    expect(getEventListeners(signal, "abort").length).toBe(0)
    const second = new AbortController()
    await text("echo", "warm", { threadId: "b" })
    const deaf = [
      text("deaf", undefined, { signal: second.signal }),
      text("busy", undefined, { threadId: "b", signal: second.signal })
    ]
    // Sent before this one, which is answered.
    expect([await text("echo", "sent"), sandbox.hands]).toEqual(["sent", 2])
    second.abort(new Error("stop"))
    expect((await Promise.all(deaf)).map((one) => one.split(":").slice(0, 1))).toEqual([["Execution"], ["Execution"]])
    expect(await text("echo", "again")).toBe("again")
  })

  it("a call that is cancelled before it is sent is not sent", async () => {
    const { text } = await world()
    const controller = new AbortController()
    controller.abort(new Error("stop"))
    expect(await text("echo", "x", { signal: controller.signal })).toBe(
      "UnavailableBeforeDispatch: echo was cancelled before it was sent"
    )
  })

  it("[R5] an earlier attempt is asked about inside", async () => {
    const { sandbox } = await world()
    const answer = await sandbox.reconcile?.(callOf("reconciled", undefined), operation("t1", undefined))
    expect(answer).toMatchObject({ _tag: "Happened", output: { content: [{ type: "text", text: "before r1/1/0" }] } })
    expect(await sandbox.reconcile?.(callOf("echo", "x"), operation("t1", undefined))).toEqual({ _tag: "Unknown" })
  })

  it("progress is passed on", async () => {
    const { text } = await world()
    const seen: Array<string> = []
    expect(await text("progress", undefined, { progress: (one) => seen.push(one) })).toBe("whole")
    expect(seen).toEqual(["half"])
  })

  it("[L8] closing ends every hand, and nothing is sent afterwards", async () => {
    const { text, sandbox } = await world()
    await text("echo", "x")
    const waiting = text("wait")
    const pid = sandbox.pidOf("t1")
    await sandbox.close()
    expect(await waiting).toContain("the sandbox was closed")
    expect(await text("echo", "x")).toBe("UnavailableBeforeDispatch: the sandbox is closed")
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH")
  })

  it("hands beyond the limit are ended", async () => {
    const { text, sandbox } = await world({ limits: { hands: 2 } })
    for (const threadId of ["a", "b", "c"]) await text("echo", "x", { threadId })
    expect(sandbox.hands).toBe(2)
  })

  it("idle hands are ended, and started anew for the next call", async () => {
    const { text, sandbox } = await world({ limits: { idle: 50 } })
    await text("count", undefined, { threadId: "a" })
    await until(() => sandbox.hands === 0)
    expect(await text("count", undefined, { threadId: "a" })).toBe("1")
  })

  it("a hand ends a call by its own limit where the runtime is frozen", async () => {
    const { text } = await world({ limits: { call: 100 } })
    expect(await text("wait")).toBe("error: the call outlasted the limit of the sandbox")
  })
})

it("[T13] without bubblewrap there is no sandbox, and the error says how to get it", async () => {
  const made = Sandbox.make({ workspace: scratch(), tools, registry, entry, bubblewrap: "no-such-bwrap" })
  await expect(made).rejects.toMatchObject({ _tag: "SandboxError", fault: "NoBubblewrap" })
  await expect(made).rejects.toThrow("apt-get install bubblewrap")
})

it("a bubblewrap that cannot make namespaces is refused at the start, with what it said", async () => {
  const made = Sandbox.make({ workspace: scratch(), tools, registry, entry, bubblewrap: "/bin/false" })
  await expect(made).rejects.toMatchObject({ fault: "NoNamespaces" })
})

it.each([
  ["/", "BadWorkspace"],
  ["/usr", "BadWorkspace"],
  ["/proc/self", "BadWorkspace"],
  ["/nowhere", "BadWorkspace"]
])("the workspace %s is refused", async (workspace, fault) => {
  await expect(Sandbox.make({ workspace, tools, registry, entry })).rejects.toMatchObject({ fault })
})

it("[T14] a registry that holds other tools than the runtime is refused at the start", async () => {
  const [echo, ...rest] = tools
  if (echo === undefined) throw new Error("no tools")
  const other = { ...echo, recovery: "NonRecoverable" as const }
  const made = Sandbox.make({ workspace: scratch(), tools: [other, ...rest], registry, entry })
  await expect(made).rejects.toBeInstanceOf(SandboxError)
  await expect(made).rejects.toThrow("no tool, or another one, for: echo")
  await until(() => running(entry).length === 0)
})

it("a registry that cannot be loaded is refused at the start, with its own error", async () => {
  await expect(
    Sandbox.make({ workspace: scratch(), tools, registry: entry, entry, limits: { start: 3_000 } })
  ).rejects.toMatchObject({ fault: "BadRegistry" })
  await expect(Sandbox.make({ workspace: scratch(), tools, registry: "/nowhere.js", entry })).rejects.toThrow(
    "registry: /nowhere.js is no file"
  )
})

it("the unsafe local executor says so at each start", async () => {
  const said: Array<string> = []
  const workspace = scratch()
  const { text } = around(
    await unsafeLocal({ tools, registry, entry, workspace, warn: (one) => said.push(one) }),
    workspace
  )
  await text("echo", "x")
  await text("echo", "x", { threadId: "t2" })
  expect(said.map((one) => one.slice(0, 7))).toEqual(["UNSAFE:", "UNSAFE:"])
})

it("[R10] a hand ends with its parent, also when that is killed", async () => {
  const parent = await startParent()
  expect(running(entry).length).toBeGreaterThan(1)
  parent.kill("SIGKILL")
  await until(() => running(entry).length === 0)
})
