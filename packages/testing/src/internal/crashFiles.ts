/**
 * The outside world of a crash scenario, on disk: what was entered, and what a store said was durable.
 *
 * Guarantees: a line is on disk before the call that wrote it returns, so a process that is killed behind it cannot take it
 * back; the last line of a process that died in the middle of it is not read.
 * Does not interpret lines.
 */
import * as fs from "node:fs"
import { join } from "node:path"
import { RunEvent, type ThreadCommit, type ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { forwarding } from "../ForwardingStore.js"
import { type AcknowledgedCommit, digestOfFacts, type SeenEffect } from "./crashLaws.js"
import { type OutsideWorld, recordedTool } from "./crashWorld.js"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** One append-only file of JSON lines. */
export class LineFile<A> {
  readonly #path: string
  readonly #isLine: (value: unknown) => value is A
  #descriptor: number | undefined

  constructor(path: string, isLine: (value: unknown) => value is A) {
    this.#path = path
    this.#isLine = isLine
  }

  append(line: A): void {
    this.#descriptor ??= fs.openSync(this.#path, "a", 0o600)
    fs.writeSync(this.#descriptor, `${JSON.stringify(line)}\n`)
    fs.fsyncSync(this.#descriptor)
  }

  read(): ReadonlyArray<A> {
    if (!fs.existsSync(this.#path)) return []
    const text = fs.readFileSync(this.#path, "utf8")
    const whole = text.slice(0, text.lastIndexOf("\n") + 1)
    return whole.split("\n").flatMap((line) => {
      if (line === "") return []
      const value: unknown = JSON.parse(line)
      return this.#isLine(value) ? [value] : []
    })
  }

  close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

const isEffect = (value: unknown): value is SeenEffect =>
  isRecord(value) && typeof value["operationId"] === "string" && typeof value["attempt"] === "number"

const isAcknowledged = (value: unknown): value is AcknowledgedCommit =>
  isRecord(value) && typeof value["revision"] === "number" && typeof value["digest"] === "string"

const effectFile = (folder: string): LineFile<SeenEffect> => new LineFile(join(folder, "effects.jsonl"), isEffect)

export const acknowledgedFile = (folder: string): LineFile<AcknowledgedCommit> =>
  new LineFile(join(folder, "acknowledged.jsonl"), isAcknowledged)

/** The outside world that lies in a folder. */
export const outsideOf = (folder: string): OutsideWorld & { readonly close: () => void } => {
  const effects = effectFile(folder)
  const enter: OutsideWorld["enter"] = ({ toolId, arguments: args }, { attempt, operationId, threadId }) =>
    effects.append({ toolId, threadId, operationId, attempt, arguments: args })
  return {
    enter,
    recorded: (tool) => recordedTool(tool, enter),
    seen: () => effects.read(),
    close: () => effects.close()
  }
}

/** The same store; `told` hears of each commit as soon as it is acknowledged. */
export const listened = (
  inner: ThreadStore.ThreadStore,
  told: (acknowledged: AcknowledgedCommit) => void
): ThreadStore.ThreadStore =>
  forwarding(inner, {
    commit: (commit) => Effect.map(inner.commit(commit), (receipt) => (told(acknowledgedOf(commit, receipt)), receipt))
  })

const acknowledgedOf = (
  commit: ThreadCommit.ThreadCommit,
  receipt: ThreadCommit.CommitReceipt
): AcknowledgedCommit => ({
  threadId: commit.threadId,
  revision: receipt.revision,
  firstFact: receipt.firstFact,
  factCount: receipt.factCount,
  digest: digestOfFacts(RunEvent.factsOf(commit))
})

/** Reads every thread of a store, its facts whole. */
export const aftermathsOf = Effect.fnUntraced(function* (given: {
  readonly store: ThreadStore.ThreadStore
  readonly effects: ReadonlyArray<SeenEffect>
  readonly acknowledged: ReadonlyArray<AcknowledgedCommit>
}) {
  const { acknowledged, effects, store } = given
  const listed = yield* store.list({ limit: 1_000 })
  // Also threads that the store does not know, but somebody saw.
  const named = [...listed, ...effects, ...acknowledged].map(({ threadId }) => threadId)
  return yield* Effect.forEach([...new Set(named)], (threadId) =>
    Effect.map(Effect.zip(store.load(threadId), factsOf(store, threadId)), ([view, facts]) => ({
      threadId,
      view,
      facts,
      effects: effects.filter((effect) => effect.threadId === threadId),
      acknowledged: acknowledged.filter((commit) => commit.threadId === threadId)
    }))
  )
})

const factsOf = Effect.fnUntraced(function* (store: ThreadStore.ThreadStore, threadId: string) {
  const facts: Array<ThreadStore.NumberedFact> = []
  for (;;) {
    const more = yield* store.tail({ threadId, from: facts.length + 1 })
    if (more.length === 0) return facts
    facts.push(...more)
  }
})
