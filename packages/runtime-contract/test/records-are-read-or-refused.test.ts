import { readFileSync } from "node:fs"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Records from "../src/records.js"
import type { ExecutableAgentSnapshot } from "../src/Snapshot.js"
import type { ThreadCommit } from "../src/ThreadCommit.js"
import { history } from "./histories.js"
import { call, opening, snapshot, starting } from "./kernelWorld.js"

const start = starting()

const stored = new Map<string, ExecutableAgentSnapshot>([[snapshot.fingerprint, snapshot]])
const options = { position: "commit 7", snapshot: (fingerprint: string) => stored.get(fingerprint) }

/** Through text and back, with the snapshot of its own start. */
const reread = (commit: ThreadCommit): ThreadCommit =>
  Records.decodeCommit(Records.encodeCommit(commit), { ...options, snapshot: () => commit.start?.snapshot })

const failureOf = (read: () => unknown): { readonly position: string; readonly pointer: string } => {
  try {
    read()
  } catch (error) {
    if (error instanceof Records.RecordUnreadable) return { position: error.position, pointer: error.pointer }
    throw error
  }
  throw new Error("it was read")
}

describe("records are read or refused", () => {
  it("[R11] whatever a store was given comes back as it was", () => {
    fc.assert(
      fc.property(history, ({ entries }) => {
        const again = entries.map((entry) =>
          entry._tag === "Signal"
            ? { ...entry, signal: Records.decodeSignal(Records.encodeSignal(entry.signal), options) }
            : { ...entry, commit: reread(entry.commit) }
        )
        expect(again).toEqual(entries)
      }),
      { numRuns: 300 }
    )
  })

  it("[R11] tickets and snapshots come back as they were", () => {
    fc.assert(
      fc.property(history, ({ fold }) => {
        const tickets = [...fold.tickets.values()]
        expect(tickets.map((state) => Records.decodeTicket(Records.encodeTicket(state), options))).toEqual(tickets)
        const snapshots = fold.snapshot === undefined ? [] : [fold.snapshot]
        expect(snapshots.map((one) => Records.decodeSnapshot(Records.encodeSnapshot(one), options))).toEqual(snapshots)
      }),
      { numRuns: 100 }
    )
  })

  it("[R11] arguments that stand in the message are written once, and others are kept", () => {
    const long = "x".repeat(5_000)
    const same = opening([call({ arguments: { long }, digest: "d" })])
    const text = Records.encodeCommit(same)
    expect(text.split(long).length - 1).toBe(1)
    expect(Records.decodeCommit(text, options)).toEqual(same)
  })

  it("[R11] a damaged, newer or unknown record is refused with its position and place", () => {
    const text = Records.encodeCommit(start)
    const broken = (change: (record: Record<string, unknown>) => void): string => {
      const record: Record<string, unknown> = JSON.parse(text) as Record<string, unknown>
      change(record)
      return JSON.stringify(record)
    }
    const rows: ReadonlyArray<readonly [string, string]> = [
      [text.slice(0, -1), ""],
      [broken((record) => (record["version"] = 2)), "/version"],
      [broken((record) => delete record["version"]), ""],
      [broken((record) => (record["surprise"] = 1)), ""],
      [broken((record) => (record["epoch"] = -1)), "/epoch"],
      [broken((record) => (record["messages"] = [{ role: "tool" }])), "/messages/0/role"],
      ["null", ""]
    ]
    expect(rows.map(([damaged]) => failureOf(() => Records.decodeCommit(damaged, options)).position)).toEqual(
      rows.map(() => "commit 7")
    )
    expect(
      rows.slice(0, 5).map(([damaged]) => failureOf(() => Records.decodeCommit(damaged, options)).pointer)
    ).toEqual(rows.slice(0, 5).map(([, pointer]) => pointer))
  })

  it("[R11] a call that no kernel makes is refused, though each field is well formed", () => {
    const impossible = opening([call({ attempts: 5 })])
    expect(failureOf(() => Records.decodeCommit(Records.encodeCommit(impossible), options)).pointer).toBe(
      "/batch/calls/0"
    )
    expect(failureOf(() => Records.decodeCall(Records.encodeCall(call({ attempts: 5 })), options)).pointer).toBe("")
  })

  it("[R11, N2] a snapshot that is not what its fingerprint says is refused", () => {
    const text = Records.encodeSnapshot(snapshot).replace(`"agentId":"${snapshot.agentId}"`, '"agentId":"other"')
    expect(failureOf(() => Records.decodeSnapshot(text, options)).pointer).toBe("/fingerprint")
    expect(
      failureOf(() => Records.decodeCommit(Records.encodeCommit(start), { ...options, snapshot: () => undefined }))
        .pointer
    ).toBe("/start/snapshotFingerprint")
  })

  it("[R11] records that version 1 wrote are read", () => {
    const lines = readFileSync(new URL("fixtures/records-v1.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n")
    const [first = "", ...rest] = lines
    const pinned = Records.decodeSnapshot(first, options)
    const commits = rest.map((line) => Records.decodeCommit(line, { position: "fixture", snapshot: () => pinned }))
    expect(commits.map((commit) => commit.batch?._tag ?? commit.disposition._tag)).toEqual([
      "Running",
      "Open",
      "Publish",
      "Ended"
    ])
    // The order of fields says nothing.
    const written = commits.map((commit): unknown => JSON.parse(Records.encodeCommit(commit)))
    expect(written).toEqual(rest.map((line): unknown => JSON.parse(line)))
  })
})
