/**
 * Checks the audit chain of one thread over any store, from its facts alone.
 *
 * Guarantees: reads and changes nothing; needs no ownership; the store's own head is compared with the last one read.
 */
import { AuditChain } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { RunError } from "../RunError.js"
import type { VerifyOptions } from "../Runtime.js"
import { bounded, boundedLoad } from "./bounded.js"
import type { Engine } from "./engine.js"
import { notFound } from "./starts.js"

const page = 1_000

export const verifyAudit = (engine: Engine, options: VerifyOptions): Effect.Effect<AuditChain.AuditReport, RunError> =>
  Effect.catchTag(read(engine, options), "TicketRefused", Effect.die)

const read = Effect.fnUntraced(function* (engine: Engine, { threadId, expected }: VerifyOptions) {
  const view = yield* boundedLoad(engine, threadId)
  if (view === undefined) return yield* Effect.fail(notFound(threadId))
  const entries: Array<AuditChain.ChainEntry> = []
  for (let from = 1; ;) {
    const start = from
    const facts = yield* bounded(engine, {
      threadId,
      ask: () => engine.store.tail({ threadId, from: start, limit: page })
    })
    const last = facts.at(-1)
    if (last === undefined) break
    entries.push(...AuditChain.entriesOf(facts))
    from = last.number + 1
  }
  const known = expected ?? view.audit?.head
  return AuditChain.verifyAudit({ threadId, entries, ...(known === undefined ? {} : { expected: known }) })
})
