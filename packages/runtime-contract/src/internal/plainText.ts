/**
 * Texts that stand in JSON as they are, between quotes.
 *
 * Guarantees: true only where `JSON.stringify` would add nothing but the quotes.
 * Does not find all of them: what is not ASCII is left to `JSON.stringify`.
 */

// Nearly every string is one; the test is a third of what JSON.stringify costs.
const plain = /^[ !#-[\]-~]*$/

/** Printable ASCII without quotes and backslashes. */
export const isPlainText = (text: string): boolean => plain.test(text)
