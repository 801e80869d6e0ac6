/**
 * A tool's schema as one kind of provider understands it.
 *
 * Guarantees: a pure function of schema and dialect; the result is an object schema without a composition at its root;
 * keywords are dropped by position, never by name alone; what is valid under the original is not made impossible to say.
 * Does not change what is validated: arguments are checked against the original, always.
 */
import type { Json } from "@toolwright/runtime-contract"
import { SchemaWriter } from "./internal/schemaWriter.js"
import { Unsayable } from "./internal/unsayable.js"
import type { SchemaDialect } from "./SchemaDialect.js"

/** A constraint that the model is not shown, or is told in words. */
export interface Dropped {
  /** JSON Pointer into the original schema. */
  readonly pointer: string
  readonly keyword: string
}

export type Projected =
  | { readonly ok: true; readonly schema: Json.JsonObject; readonly dropped: ReadonlyArray<Dropped> }
  | { readonly ok: false; readonly pointer: string; readonly reason: string }

/** Projects an input schema. What cannot be said comes back with its place. */
export const projectSchema = (schema: Json.JsonObject, dialect: SchemaDialect): Projected => {
  const writer = new SchemaWriter(schema, dialect)
  try {
    return { ok: true, schema: writer.root(), dropped: writer.dropped }
  } catch (cause) {
    if (cause instanceof Unsayable) return { ok: false, pointer: cause.pointer, reason: cause.message }
    throw cause
  }
}
