// A proof that cannot fail proves nothing: each part is broken on purpose, and some world must show it.
import { type ThreadStore, ToolBatch } from "@toolwright/runtime-contract"
import { Runtime } from "@toolwright/runtime"
import {
  forwarding,
  shrink,
  simulate,
  type SimulatedPorts,
  type SimulationOptions,
  type SimulationReport
} from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

const makeOwner = Runtime.make.bind(Runtime)

/** The first world of so many that breaks a law, as its smallest script. */
const found = async (broken: Omit<SimulationOptions, "seed">, seeds = 150): Promise<SimulationReport | undefined> => {
  for (let seed = 1; seed <= seeds; seed++) {
    const report = await simulate({ ...broken, seed })
    if (report.violations.length > 0) return shrink({ ...broken, seed, faults: report.faults })
  }
  return undefined
}

const changed =
  (change: (inner: ThreadStore.ThreadStore) => Partial<ThreadStore.ThreadStore>) =>
  (inner: ThreadStore.ThreadStore): ThreadStore.ThreadStore =>
    forwarding(inner, change(inner))

describe("a broken part is found, and told with few faults", () => {
  it("a store that acknowledges what it did not write", async () => {
    const store = changed((inner) => {
      let count = 0
      return {
        commit: (commit) =>
          ++count % 7 === 0
            ? Effect.succeed({ commitId: commit.id, revision: commit.expectedRevision + 1, firstFact: 1, factCount: 1 })
            : inner.commit(commit)
      }
    })
    const report = await found({ makeOwner, store })
    expect(report?.violations.join("\n")).toContain("was acknowledged and is not there")
  }, 60_000)

  it("a store that forgets that a call went in", async () => {
    const store = changed((inner) => ({
      load: (threadId) =>
        Effect.map(inner.load(threadId), (view) =>
          view?.batch === undefined
            ? view
            : {
                ...view,
                batch: {
                  ...view.batch,
                  calls: view.batch.calls.map((call) =>
                    call.phase._tag === "Executing" ? ToolBatch.unstarted(call) : call
                  )
                }
              }
        )
    }))
    const report = await found({ makeOwner, store })
    expect(report?.violations.length).toBeGreaterThan(0)
    expect(report?.faults.length).toBeLessThanOrEqual(3)
  }, 60_000)

  it("an engine that enters a tool twice", async () => {
    const twice = (ports: SimulatedPorts): ReturnType<typeof makeOwner> =>
      makeOwner({
        ...ports,
        tools: ports.tools.map((tool) => ({
          ...tool,
          invoke: (call, context) => {
            void Promise.resolve(Effect.isEffect(tool.invoke(call, context)))
            return tool.invoke(call, context)
          }
        }))
      })
    const report = await found({ makeOwner: twice }, 5)
    expect(report?.violations.join("\n")).toContain("was entered twice in attempt 1")
    expect(report?.faults).toEqual([])
  }, 60_000)

  it("an engine that repeats what must not be repeated", async () => {
    // The tools say of themselves that they may be repeated, and the snapshot of the first process pins that.
    const repeats = (ports: SimulatedPorts): ReturnType<typeof makeOwner> => {
      const store = changed((inner) => ({
        load: (threadId) =>
          Effect.map(inner.load(threadId), (view) =>
            view?.batch === undefined
              ? view
              : {
                  ...view,
                  batch: {
                    ...view.batch,
                    calls: view.batch.calls.map((call) => ({
                      ...call,
                      recovery: { mode: "ReplaySafe" as const, maxAttempts: 3 }
                    }))
                  }
                }
          ),
        commit: (commit) =>
          inner.commit(
            commit.batch === undefined
              ? commit
              : {
                  ...commit,
                  batch: {
                    ...commit.batch,
                    calls: commit.batch.calls.map((call) => ({
                      ...call,
                      recovery: { mode: "ReplaySafe" as const, maxAttempts: 3 }
                    }))
                  }
                }
          )
      }))(ports.store)
      return makeOwner({ ...ports, store })
    }
    const report = await found({ makeOwner: repeats })
    expect(report?.violations.join("\n")).toContain("ran again, and must not")
    expect(report?.faults.length).toBeLessThanOrEqual(3)
  }, 60_000)

  it("a store that lets a stale owner write", async () => {
    const store = changed((inner) => ({
      commit: (commit) =>
        Effect.flatMap(inner.load(commit.threadId), (view) =>
          view === undefined
            ? inner.commit(commit)
            : inner.commit({ ...commit, epoch: view.epoch, expectedRevision: view.revision })
        )
    }))
    const report = await found({ makeOwner, store })
    expect(report?.violations.length).toBeGreaterThan(0)
  }, 60_000)

  it("a store that forgets how a ticket was decided", async () => {
    const store = changed((inner) => ({
      ticket: (ticketId) =>
        Effect.map(inner.ticket(ticketId), (state) =>
          state === undefined ? undefined : { ticket: state.ticket, allowedBy: state.allowedBy }
        )
    }))
    const report = await found({ makeOwner, store })
    expect(report?.violations.join("\n")).toContain("the run is left Awaiting")
  }, 60_000)

  it("a store that lets two answers to one ticket win", async () => {
    // Asked for the first time it tells the truth, so that the run goes on; the next one is told that it has won as well.
    const store = changed((inner) => {
      const won = new Set<string>()
      return {
        signal: (signal) => {
          const ticketId = signal.body._tag === "Answer" ? signal.body.answer.ticketId : ""
          if (!won.has(ticketId)) return Effect.tap(inner.signal(signal), () => Effect.sync(() => won.add(ticketId)))
          return Effect.orElseSucceed(inner.signal(signal), () => ({ signalId: signal.id, sequence: 1 }))
        }
      }
    })
    const report = await found({ makeOwner, store }, 4_000)
    expect(report?.violations.join("\n")).toMatch(/ticket .* accepted .* and /)
  }, 120_000)
})
