/**
 * Who asked what, which rule decided, who approved which digest, what ran, and whether the record was changed since.
 */
// #region audit
import { AuditChain, type ThreadStore } from "@toolwright/runtime-contract"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"

export const audit = (path: string, threadId: string) => {
  const program = Effect.gen(function* () {
    const store = yield* SqliteThreadStore.scoped({ path })
    const view = yield* store.load(threadId)
    // At most 1,000 facts: read on from the next number where there are more.
    const facts = yield* store.tail({ threadId, from: 1 })
    // Better: a head that was kept elsewhere, where nobody who can write the file can write.
    const expected = view?.audit?.head
    const chain = { threadId, entries: AuditChain.entriesOf(facts) }
    const { flaws } = AuditChain.verifyAudit(expected === undefined ? chain : { ...chain, expected })
    return [
      ...facts.flatMap(linesOf),
      ...flaws.map(({ _tag, from, to }) => `${_tag}: not as written between facts ${from} and ${to}`)
    ]
  })
  return Effect.runPromise(Effect.scoped(program))
}

const linesOf = ({ number, fact }: ThreadStore.NumberedFact): ReadonlyArray<string> => {
  const at = `${number} ${new Date(fact.at).toISOString()}`
  if (fact.type === "RunStarted") return [`${at} a run for ${fact.record.principal}`]
  // Executing, Completed, NotRun, or Indeterminate: it may have happened.
  if (fact.type === "CallChanged") return [`${at} ${fact.call.toolId}: ${fact.call.phase._tag}`]
  if (fact.type !== "Decided") return []
  const { type, outcome, by, rule = "-", toolId = "-", digest = "" } = fact.record
  return [`${at} ${toolId} ${digest.slice(0, 12)}: ${type} ${outcome} by ${by}, rule ${rule}`]
}
// #endregion
