/**
 * TypeBox as this contract is built against, for authors who want no dependency of their own.
 *
 * Guarantees: the same `Type` and `Static` that `Tool.define` takes.
 * Does not add anything to it.
 */
export * from "typebox"
