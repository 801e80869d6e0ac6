/**
 * How surely a condition or a rule speaks of a call, as four ordered levels, and what not, and and or mean among them.
 *
 * `Surely`: under the narrowest reading. `Loosely`: under the broadest (another spelling, one of several values).
 * `Possibly`: what decides is known only when the call runs. `Never`: under no reading.
 *
 * Guarantees: what allows can ask for `Surely` and what denies for `Loosely`, so that whatever is ambiguous is read
 * narrowly where it allows and broadly where it denies; negation turns the one into the other.
 */

export type Certainty = 0 | 1 | 2 | 3
export const Never = 0
export const Possibly = 1
export const Loosely = 2
export const Surely = 3

/** The opposite of a condition: surely not where it surely held, and as doubtful as it was in between. */
export const not = (certainty: Certainty): Certainty =>
  certainty === Surely ? Never : certainty === Never ? Surely : certainty

/** Both must hold. */
export const and = (left: Certainty, right: Certainty): Certainty => (left < right ? left : right)

/**
 * One condition over several values: surely where it is sure of every one, loosely where it holds of any. Of no value at
 * all it never holds.
 */
export const overAll = (certainties: ReadonlyArray<Certainty>): Certainty => {
  let least: Certainty = Surely
  let most: Certainty = Never
  for (const certainty of certainties) {
    if (certainty < least) least = certainty
    if (certainty > most) most = certainty
  }
  if (certainties.length > 0 && least === Surely) return Surely
  return most === Surely ? Loosely : most
}

/** In words, for explanations. */
export const describe = (certainty: Certainty): string => words[certainty]

const words = ["does not match", "may match when it runs", "matches under another reading", "matches"] as const
