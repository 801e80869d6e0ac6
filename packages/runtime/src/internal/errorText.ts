/**
 * What a foreign error says of itself, where anything may have been thrown.
 *
 * Guarantees: total; a message that is no text, or that cannot be looked at, is the given words.
 * Does not classify.
 */
/// <reference lib="es2024.string" />

export const errorText = (error: unknown, otherwise: string): string => {
  try {
    if (!(error instanceof Error)) return otherwise
    const { message }: { readonly message: unknown } = error
    return typeof message === "string" ? message.toWellFormed() : otherwise
  } catch {
    return otherwise
  }
}
