/**
 * The record of threads in words, and whether it is the one that was written.
 *
 * Guarantees: reads the store and nothing else: no model, no tool, no owner is needed; a thread that cannot be read is
 * told with its place, and the others are shown all the same.
 * Does not stop whoever can rewrite the whole file: that is what a head that was kept elsewhere is for.
 */
import { AuditChain, type ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { CommandLineError } from "./CommandLine.js"
import { auditLines } from "./internal/auditText.js"
import type { Page } from "./Page.js"
import { standing } from "./Threads.js"

/** Facts that are read at a time. */
const page = 1_000

export class Audit {
  readonly #store: ThreadStore.ThreadStore
  readonly #page: Page

  constructor(store: ThreadStore.ThreadStore, shown: Page) {
    this.#store = store
    this.#page = shown
  }

  /** Shows the threads whose ids begin so, all for `""`. Gives the exit code: 1 where a record is not what was written. */
  async show(beginning: string): Promise<number> {
    const all = (await Effect.runPromise(this.#store.list({ limit: 1_000 })))
      .toSorted((left, right) => left.updatedAt - right.updatedAt)
      .map(({ threadId }) => threadId)
    const found = all.filter((id) => id.startsWith(beginning))
    if (found.length === 0)
      throw new CommandLineError(`--audit ${beginning}: there is no such thread; --threads lists them`)
    let isSound = true
    for (const threadId of found) if (!(await this.#thread(threadId))) isSound = false
    return isSound ? 0 : 1
  }

  async #thread(threadId: string): Promise<boolean> {
    this.#page.gap()
    const read = await Effect.runPromise(Effect.result(this.#read(threadId)))
    if (read._tag === "Failure") {
      this.#page.note(`Thread ${threadId}`, "bold")
      // Its message names table, thread and revision.
      this.#page.note(`UNREADABLE: ${read.failure.message}`, "red")
      return false
    }
    const { view, facts } = read.success
    this.#page.note(`Thread ${threadId}: ${view === undefined ? "empty" : standing(view)}`, "bold")
    const schemaOf = (toolId: string) => view?.snapshot?.tools.find(({ id }) => id === toolId)?.inputSchema
    this.#page.items(auditLines(facts, schemaOf).map(({ number, text }) => [String(number), text]))
    const expected = view?.audit?.head
    const entries = AuditChain.entriesOf(facts)
    const report = AuditChain.verifyAudit({ threadId, entries, ...(expected === undefined ? {} : { expected }) })
    for (const flaw of report.flaws) this.#page.note(flawText(flaw), "red")
    if (report.flaws.length === 0) this.#page.note(soundText(report), "green")
    return report.flaws.length === 0
  }

  #read(threadId: string) {
    const store = this.#store
    return Effect.gen(function* () {
      const view = yield* store.load(threadId)
      const facts: Array<ThreadStore.NumberedFact> = []
      for (let from = 1; ; from = (facts.at(-1)?.number ?? 0) + 1) {
        const some = yield* store.tail({ threadId, from, limit: page })
        if (some.length === 0) return { view, facts }
        facts.push(...some)
      }
    })
  }
}

const flawText = (flaw: AuditChain.AuditFlaw): string =>
  flaw._tag === "Changed"
    ? `CHANGED: a decision between facts ${flaw.from} and ${flaw.to} is not the one that was written`
    : `TRUNCATED: decisions are missing behind fact ${flaw.from - 1}`

const soundText = ({ records, open, head }: AuditChain.AuditReport): string => {
  if (records === 0) return "Nothing was decided, so there is nothing to check."
  const tail = open === 0 ? "" : `, the last ${open} not sealed yet`
  return `The ${records === 1 ? "decision is" : `${records} decisions are`} as written${tail}. Head ${head ?? "none yet"}`
}
