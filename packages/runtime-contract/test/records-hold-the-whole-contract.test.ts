import { describe, expect, it } from "vitest"
import { canonicalJson, type Json } from "../src/Json.js"
import * as Records from "../src/records.js"
import type { RunNote, ThreadCommit } from "../src/ThreadCommit.js"
import type { BatchCall } from "../src/ToolBatch.js"
import { calls, commits, signals, snapshots, tickets } from "./everyVariant.js"
import { call, opening } from "./kernelWorld.js"

const options = { position: "record", snapshot: () => snapshots[0] }
const reread = (made: ThreadCommit): ThreadCommit => Records.decodeCommit(Records.encodeCommit(made), options)

describe("records hold the whole contract", () => {
  it("[R11] a call in every phase, for every reason, wait, mode and claim", () => {
    expect(calls.map((one) => Records.decodeCall(Records.encodeCall(one), options))).toEqual(calls)
  })

  it("[R11] every start, delta, end, note, audit record and stop, and every part of a message", () => {
    expect(commits.map(reread)).toEqual(commits)
  })

  it("[R11, H1] a ticket of every kind, and every decision about it", () => {
    expect(tickets.map((state) => Records.decodeTicket(Records.encodeTicket(state), options))).toEqual(tickets)
  })

  it("[R11, D3] every signal", () => {
    expect(signals.map((signal) => Records.decodeSignal(Records.encodeSignal(signal), options))).toEqual(signals)
  })

  it("[R11, N2] a snapshot with all that it can have", () => {
    expect(snapshots.map((one) => Records.decodeSnapshot(Records.encodeSnapshot(one), options))).toEqual(snapshots)
  })

  it("[R11] text is kept to the last character, and `__proto__` is data", () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[[],{}],"n":-1.5e-7}') as BatchCall["arguments"]
    const made = opening([call({ arguments: odd })], {
      notes: [{ type: "HookFailed", hook: "h", phase: "StepStart", message: "\u0000\u2028 🔧 e\u0301" } as RunNote]
    })
    // Canonical text, because deep equality does not look at an own `__proto__`.
    const text = (one: ThreadCommit): string => canonicalJson(JSON.parse(JSON.stringify(one)) as Json)
    expect(text(reread(made))).toBe(text(made))
  })
})
