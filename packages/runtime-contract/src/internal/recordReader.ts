import type { Static, TSchema } from "typebox"
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { compile } from "./ajv.js"

/** A persisted record that cannot be read as what it says it is. Nothing was skipped and nothing was defaulted. */
export class RecordUnreadable extends Error {
  readonly _tag = "RecordUnreadable"
  override readonly name = "RecordUnreadable"
  readonly position: string
  /** JSON Pointer into the record. */
  readonly pointer: string
  readonly expected: string
  constructor(
    failure: { readonly position: string; readonly pointer: string; readonly expected: string },
    options?: { readonly cause?: unknown }
  ) {
    const place = failure.pointer === "" ? "" : ` at ${failure.pointer}`
    super(`unreadable record ${failure.position}${place}: expected ${failure.expected}`, options)
    this.position = failure.position
    this.pointer = failure.pointer
    this.expected = failure.expected
  }
}

/** Text to a checked record. The schema is compiled at the first use. */
export const recordReader = <S extends TSchema>(schema: S): ((text: string, position: string) => Static<S>) => {
  let check: ReturnType<typeof compile> | undefined
  return (text, position) => {
    const value = parse(text, position)
    check ??= compile(plain(schema), { origin: "own", inherited: false })
    if (isA<S>(check, value)) return value
    const [first] = check.errors ?? []
    throw new RecordUnreadable({
      position,
      pointer: first?.instancePath ?? "",
      expected: first?.message ?? "a record of a known version"
    })
  }
}

const isA = <S extends TSchema>(check: ReturnType<typeof compile>, value: unknown): value is Static<S> =>
  check(value) === true

const parse = (text: string, position: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RecordUnreadable({ position, pointer: "", expected: "JSON" }, { cause })
  }
}

/** The schema without what the schema library keeps for itself. */
const plain = (schema: TSchema): JsonObject => {
  const value: Json = JSON.parse(JSON.stringify(schema)) as Json
  return isJsonObject(value) ? value : {}
}
