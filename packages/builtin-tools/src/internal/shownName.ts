/**
 * Names of files as they are told: what a name may hold is more than what a line of text may.
 *
 * Guarantees: one line, no control characters and none that turn the direction of writing; an ordinary name is itself.
 * Not a path to be opened: the data of a result has that.
 */

/** A name as one line of text: what could move the cursor or begin a new line is escaped. */
export const shownName = (name: string): string =>
  /[\p{Cc}\p{Cf}\u2028\u2029\ufffd]/u.test(name)
    ? JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped)
    : name

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
