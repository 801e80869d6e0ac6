/**
 * Everything that a simulated world leaves to chance, drawn from its seed.
 *
 * Guarantees: a draw depends on the seed and on its own name, never on how many draws came before; so taking one fault
 * away moves no other, and a list of faults is a script that can be played again.
 * Does not keep state beyond what was drawn as a fault.
 */
import { seeded } from "../FaultyStore.js"

export class Draw {
  readonly seed: number
  readonly #only: ReadonlySet<string> | undefined
  readonly #happened = new Set<string>()
  /** From fair (0) to foul (3): how much likelier faults of parts are than usual. */
  readonly weather: number
  /** No faults from now on. */
  isCalm = false

  /** `only`: the faults that may happen; default all that are drawn. */
  constructor(seed: number, only?: ReadonlySet<string>) {
    this.seed = seed
    this.#only = only
    this.weather = 3 * this.number("weather")
  }

  /** From 0 to 1, the same for the same name. */
  number(name: string): number {
    let hash = 0x811c9dc5 ^ this.seed
    for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
    return seeded(hash)()
  }

  /** A whole number from 0 to below `count`. */
  below(count: number, name: string): number {
    return Math.floor(this.number(name) * count)
  }

  chance(probability: number, name: string): boolean {
    return this.number(name) < probability
  }

  /** A fault that is drawn at this probability, and remembered under `name` where it happens. */
  fault(probability: number, name: string): boolean {
    if (this.isCalm || !this.chance(probability, name)) return false
    if (this.#only !== undefined && !this.#only.has(name)) return false
    this.#happened.add(name)
    return true
  }

  /** The names of the faults that happened, in order. */
  get happened(): ReadonlyArray<string> {
    return [...this.#happened]
  }
}
