/**
 * The hash chain over a thread's audit records: a changed or missing record is found, and it says where.
 *
 * Guarantees: a pure function of thread, records and their order, the same in every store; heads are stored with commits
 * that rest, end or carry more than plain allows, so that an allowed call costs no hash of its own.
 * Does not stop whoever can rewrite the whole store: keep a head elsewhere and hand it to `verify` for that.
 */
import { canonicalJson, sha256Hex } from "./Json.js"
import { isPlainText } from "./internal/plainText.js"
import { streamSha256 } from "./internal/streamSha256.js"
import type { AuditRecord } from "./ThreadCommit.js"
import type { NumberedFact } from "./ThreadStore.js"

/** The head before the first record. Bound to the thread, so that records of another do not fit. */
export const genesis = (threadId: string): string => sha256Hex(`toolwright/audit/1\u0000${JSON.stringify(threadId)}`)

/** The head behind these records, list after list (SHA-256, 64 hexadecimal digits). Of no records: the one before. */
export const next = (previous: string, ...lists: ReadonlyArray<ReadonlyArray<AuditRecord>>): string => {
  if (lists.every((records) => records.length === 0)) return previous
  const hash = streamSha256()
  let text = previous
  for (const records of lists)
    for (const record of records) {
      // Handed on in pieces: one text over many records is copied whole, and kept until then.
      if (text.length > 4_096) {
        hash.update(text)
        text = ""
      }
      text += "\n" + textOf(record)
    }
  return hash.digest(text)
}

// The text of JSON.stringify over a list of the fields, put together by hand: it is made for every call. What one gate
// says of one call it says of the next, so the end of the last text is kept.
const textOf = ({ type, at, operationId, toolId, digest, outcome, rule, by, detail }: AuditRecord): string => {
  if (outcome !== said.outcome || rule !== said.rule || by !== said.by)
    said = { outcome, rule, by, text: `,${quoted(outcome)},${quoted(rule)},${quoted(by)},` }
  const end = said.text + (detail === undefined ? "null]" : JSON.stringify(canonicalJson(detail)) + "]")
  const isPlain = digest !== undefined && toolId !== undefined && isPlainText(digest) && isPlainText(toolId)
  return isPlain && operationId !== undefined && isPlainText(operationId)
    ? `["${type}",${at},"${operationId}","${toolId}","${digest}"${end}`
    : `["${type}",${at},${quoted(operationId)},${quoted(toolId)},${quoted(digest)}${end}`
}

interface Said extends Pick<AuditRecord, "outcome" | "by"> {
  readonly rule: string | undefined
  readonly text: string
}

let said: Said = { outcome: "", rule: undefined, by: "", text: `,"",null,"",` }

const quoted = (text: string | undefined): string => (text === undefined ? "null" : canonicalJson(text))

/** Records that no stored head covers yet, and the head before them. */
export interface AuditTail {
  readonly head: string | undefined
  readonly open: ReadonlyArray<AuditRecord>
}

/** True for a record that may wait for its head: plain allows come with every call. */
const mayWait = (record: AuditRecord): boolean => record.type === "Decision" && record.outcome === "Allow"

/** The head for a commit that adds these records, or `undefined` where the chain may wait. */
export const sealOf = (
  { head, open }: AuditTail,
  commit: { readonly threadId: string; readonly isRest: boolean; readonly audit: ReadonlyArray<AuditRecord> }
): string | undefined => {
  const { audit, isRest, threadId } = commit
  if (open.length + audit.length === 0 || !(isRest || !audit.every(mayWait))) return undefined
  return next(head ?? genesis(threadId), open, audit)
}

/** One fact of a thread as far as the chain is concerned: a record, a head that was stored behind it, or both. */
export interface ChainEntry {
  readonly number: number
  readonly record?: AuditRecord
  readonly head?: string
}

/** The entries among facts, as a store's `tail` gives them. */
export const entriesOf = (facts: ReadonlyArray<NumberedFact>): ReadonlyArray<ChainEntry> =>
  facts.flatMap(({ number, fact }): ReadonlyArray<ChainEntry> => {
    if (fact.type === "Decided") return [{ number, record: fact.record, ...headOf(fact.head) }]
    const isRest = fact.type === "RunAwaiting" || fact.type === "RunEnded"
    return isRest && fact.head !== undefined ? [{ number, head: fact.head }] : []
  })

const headOf = (head: string | undefined): { readonly head?: string } => (head === undefined ? {} : { head })

/** What does not fit. `from` and `to` are numbers of facts: the change lies between them, both included. */
export type AuditFlaw =
  /** A record between the two was changed, taken out, put in or moved. */
  | { readonly _tag: "Changed"; readonly from: number; readonly to: number }
  /** The last stored head is not the one that was expected: records behind it are missing. */
  | { readonly _tag: "Truncated"; readonly from: number; readonly to: number }

export interface AuditReport {
  readonly threadId: string
  readonly records: number
  /** Records behind the last stored head; a chain at rest has none. */
  readonly open: number
  readonly head: string | undefined
  readonly flaws: ReadonlyArray<AuditFlaw>
}

/**
 * Checks the entries of a thread, in order, from its first. Behind a flaw it goes on from the stored head, so that each
 * place is reported. `expected` is a head that was kept elsewhere.
 */
export const verifyAudit = (given: {
  readonly threadId: string
  readonly entries: Iterable<ChainEntry>
  readonly expected?: string
}): AuditReport => {
  const flaws: Array<AuditFlaw> = []
  const heads = new Set<string>()
  let head: string | undefined
  let open: Array<AuditRecord> = []
  let from = 1
  let to = 0
  let count = 0
  for (const one of given.entries) {
    to = one.number
    if (one.record !== undefined) {
      open.push(one.record)
      count++
    }
    if (one.head === undefined) continue
    if (next(head ?? genesis(given.threadId), open) !== one.head) flaws.push({ _tag: "Changed", from, to })
    heads.add(one.head)
    head = one.head
    open = []
    from = one.number + 1
  }
  if (given.expected !== undefined && !heads.has(given.expected))
    flaws.push({ _tag: "Truncated", from: to + 1, to: to + 1 })
  return { threadId: given.threadId, records: count, open: open.length, head, flaws }
}
