/**
 * The few counts of a run that must survive a wait and a crash, kept as run state under a name of the runtime's own.
 *
 * Guarantees: written only when something is to be counted, in the commit that changes it, so a run without budgets
 * writes nothing; unreadable counts are an error, never zero.
 * Does not hold what the thread already says: steps and messages are counted there.
 */
import { type Json, Json as Jsons, type StateKey, StateUnreadable } from "@toolwright/runtime-contract"

const scope = "Run"
const name = "toolwright/ledger"

/** Where the ledger lies in `ThreadView.state`. */
export const ledgerKey = `${scope}:${name}`

/** Identical refused calls in a row. */
export interface Streak {
  readonly key: string
  readonly count: number
}

const nothing: ReadonlyMap<string, never> = new Map<string, never>()

export class RunLedger {
  /** Input and output tokens; counted only under a token budget. */
  tokens = 0
  /** Milliseconds at work, waits for people left out; counted only under a time budget. */
  active = 0
  streak: Streak | undefined
  /** Final answers that were sent back. */
  repairs = 0
  /** Commands that hooks staged before the batch of the open step opened. */
  staged: ReadonlyArray<StateKey.StateCommand> = []
  // Each made when something first goes in: most runs have neither.
  #sentOn: Map<string, number> | undefined
  #granted: Map<string, ReadonlyArray<string>> | undefined
  #written = ""

  /** By run-end guard: how often it has sent this run on. */
  get sentOn(): ReadonlyMap<string, number> {
    return this.#sentOn ?? nothing
  }

  /** Calls of the open batch that grants have answered for, by operation, with the grants' ids. */
  get granted(): ReadonlyMap<string, ReadonlyArray<string>> {
    return this.#granted ?? nothing
  }

  grant(operationId: string, ids: ReadonlyArray<string>): void {
    this.#granted ??= new Map()
    this.#granted.set(operationId, ids)
  }

  forgetGranted(): void {
    this.#granted?.clear()
  }

  /** Reads the ledger of a loaded run. Throws `StateUnreadable`. */
  static read(stored: Json.Json | undefined): RunLedger {
    const ledger = new RunLedger()
    if (stored === undefined) return ledger
    if (!Jsons.isJsonObject(stored)) throw new StateUnreadable({ scope, name })
    const { tokens, active, repairs, streak, staged, sentOn, granted } = stored
    ledger.tokens = count(tokens)
    ledger.active = count(active)
    ledger.repairs = count(repairs)
    if (Jsons.isJsonObject(streak) && typeof streak["key"] === "string")
      ledger.streak = { key: streak["key"], count: count(streak["count"]) }
    if (Jsons.isJsonObject(sentOn))
      for (const [guard, times] of Object.entries(sentOn)) ledger.#sendOn(guard, count(times))
    if (Jsons.isJsonObject(granted))
      for (const [operation, ids] of Object.entries(granted)) ledger.grant(operation, textsOf(ids))
    if (Array.isArray(staged)) ledger.staged = staged.map(commandOf)
    ledger.#written = ledger.#text()
    return ledger
  }

  sendOn(guard: string): void {
    this.#sendOn(guard, (this.sentOn.get(guard) ?? 0) + 1)
  }

  #sendOn(guard: string, times: number): void {
    this.#sentOn ??= new Map()
    this.#sentOn.set(guard, times)
  }

  /** What was committed is not written again. */
  written(commands: ReadonlyArray<StateKey.StateCommand>): void {
    for (const command of commands)
      if (command.scope === scope && command.key === name && command._tag === "Set")
        this.#written = JSON.stringify(command.value)
  }

  /** The command that writes what has changed since the last committed one. */
  command(): StateKey.StateCommand | undefined {
    if (this.#isBlank && this.#written === "") return undefined
    const text = this.#text()
    if (text === this.#written) return undefined
    const value = JSON.parse(text) as Json.Json
    return { _tag: "Set", scope, key: name, merge: "Disjoint", value }
  }

  get #isBlank(): boolean {
    return (
      this.tokens + this.active + this.repairs + this.staged.length + this.sentOn.size + this.granted.size === 0 &&
      this.streak === undefined
    )
  }

  #text(): string {
    const { tokens, active, repairs, streak, staged } = this
    return JSON.stringify({
      ...(tokens === 0 ? {} : { tokens }),
      ...(active === 0 ? {} : { active }),
      ...(repairs === 0 ? {} : { repairs }),
      ...(streak === undefined ? {} : { streak }),
      ...(staged.length === 0 ? {} : { staged }),
      ...(this.granted.size === 0 ? {} : { granted: Object.fromEntries(this.granted) }),
      ...(this.sentOn.size === 0 ? {} : { sentOn: Object.fromEntries(this.sentOn) })
    })
  }
}

const count = (value: Json.Json | undefined): number => {
  if (value === undefined) return 0
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
  throw new StateUnreadable({ scope, name })
}

const textsOf = (value: Json.Json): ReadonlyArray<string> => {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value
  throw new StateUnreadable({ scope, name })
}

const commandOf = (value: Json.Json): StateKey.StateCommand => {
  if (!Jsons.isJsonObject(value)) throw new StateUnreadable({ scope, name })
  const { _tag, scope: of, key, merge, value: set } = value
  const isScope = of === "Run" || of === "Thread" || of === "Shared"
  const isMerge = merge === "Disjoint" || merge === "Commutative" || merge === "Exclusive"
  if (!isScope || !isMerge || typeof key !== "string") throw new StateUnreadable({ scope, name })
  if (_tag === "Remove") return { _tag, scope: of, key, merge }
  if (_tag !== "Set" || set === undefined) throw new StateUnreadable({ scope, name })
  return { _tag, scope: of, key, merge, value: set }
}
