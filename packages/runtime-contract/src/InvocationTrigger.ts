/**
 * Phrases that suggest a tool, and the rule by which a text matches them.
 *
 * Guarantees: literal, case-folded, and only as a whole: bounded by the text's ends or by characters that are neither
 * Unicode Alphabetic nor Number. An empty phrase never matches.
 * Does not call anything: a match may give the model one hint, never an action.
 */

const wordCharacter = /[\p{Alphabetic}\p{N}]/u

/**
 * Case folding as far as the platform has it: upper, then lower, so that `ß` meets `SS` and final sigma meets sigma. The
 * dotless i is left out: it is a letter of its own, though its upper case is that of `i`.
 */
const fold = (text: string): string =>
  text
    .split("ı")
    .map((part) => part.toUpperCase().toLowerCase().replaceAll("ς", "σ"))
    .join("ı")

/** True where `trigger` stands in `text` as a whole word or phrase. White space around the trigger does not count. */
export const matches = (text: string, trigger: string): boolean => {
  const needle = fold(trigger.trim())
  if (needle === "") return false
  const haystack = fold(text)
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1))
    if (isBounded(haystack, { start: at, end: at + needle.length })) return true
  return false
}

/** The candidate with the longest matching phrase (in code points); the first of equals. `undefined` where none matches. */
export const longestMatch = <A extends { readonly triggers: ReadonlyArray<string> }>(
  text: string,
  candidates: Iterable<A>
): { readonly candidate: A; readonly trigger: string } | undefined => {
  let best: { readonly candidate: A; readonly trigger: string } | undefined
  let longest = 0
  for (const candidate of candidates) {
    for (const trigger of candidate.triggers) {
      const length = Array.from(trigger.trim()).length
      if (length <= longest || !matches(text, trigger)) continue
      best = { candidate, trigger }
      longest = length
    }
  }
  return best
}

const isBounded = (text: string, { end, start }: { readonly start: number; readonly end: number }): boolean =>
  !splitsPair(text, start) &&
  !splitsPair(text, end) &&
  !wordCharacter.test(text.slice(splitsPair(text, start - 1) ? start - 2 : Math.max(0, start - 1), start)) &&
  !wordCharacter.test(text.slice(end, splitsPair(text, end + 1) ? end + 2 : end + 1))

/** True where `index` stands between the two halves of one code point. */
const splitsPair = (text: string, index: number): boolean => {
  const high = text.charCodeAt(index - 1)
  const low = text.charCodeAt(index)
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
}
