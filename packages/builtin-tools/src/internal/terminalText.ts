/**
 * Output of programs as plain text: what would move a cursor, colour, hide or rename something is taken out or made visible.
 *
 * Guarantees: the result holds no escape sequence, no control character but tab and line feed, and no character that
 * turns the direction of writing; lone surrogates become U+FFFD.
 * Does not interpret: a progress bar becomes several lines.
 */

// CSI, two-character escapes, and OSC and other strings with their ends. No part of an expression is tried twice on the
// same text, so hostile output costs no more than other output.
/* oxlint-disable eslint/no-control-regex -- control characters are what it is about */
const sequences =
  /(\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])([^\u0007\u001b\u009c]*)(?:(\u0007|\u001b\\|\u009c|$)|)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g
const eightBit = /\u009b[0-?]*[ -/]*[@-~]?/g
/* oxlint-enable eslint/no-control-regex */
const controls = /(?![\t\n])\p{Cc}/gu
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

export const terminalText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r+\n?/g, (ends) => (ends.endsWith("\n") ? "\n" : ends))
    .replace(sequences, withoutSequence)
    .replace(/\r/g, "\n")
    .replace(controls, (control) => {
      const code = control.charCodeAt(0)
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
    })
    .replace(directions, (mark) => `<U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase()}>`)

/** A string that has no end is text behind a mark. */
const withoutSequence = (...[, start, body, end]: ReadonlyArray<string | undefined>): string => {
  if (start === undefined || body === undefined || end !== undefined) return ""
  return (start.startsWith("\u001b") ? "" : start) + body.replace(eightBit, "")
}
