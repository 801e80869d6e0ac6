import { ToolArgs, ToolSchema } from "@toolwright/runtime-contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as SchemaDialect from "../src/SchemaDialect.js"
import { projectSchema } from "../src/SchemaProjection.js"
import { accepts, argumentSchemas, strictForm, valuesOf, withoutNulls } from "./support/schemas.js"

const pairs = argumentSchemas.chain((schema) => fc.tuple(fc.constant(schema), valuesOf(schema)))

describe("a projected schema", () => {
  for (const dialect of [SchemaDialect.openAi, SchemaDialect.anthropic, SchemaDialect.common])
    it(`[T7] of the dialect ${dialect.name} takes every value that the original takes`, () => {
      fc.assert(
        fc.property(pairs, ([schema, value]) => {
          const projected = projectSchema(schema, dialect)
          expect(projected).toMatchObject({ ok: true, schema: { type: "object" } })
          expect(projected.ok && accepts(projected.schema, value), JSON.stringify(projected)).toBe(true)
        }),
        { numRuns: 60 }
      )
    })

  it("[T7] of Google's dialect takes every value that the original takes, where every value has a type of its own", () => {
    fc.assert(
      fc.property(pairs, ([schema, value]) => {
        const projected = projectSchema(schema, SchemaDialect.google)
        expect(projected.ok && accepts(projected.schema, value), JSON.stringify(projected)).toBe(true)
      }),
      { numRuns: 60 }
    )
  })

  it("[T4] of the strict dialect takes every value with null for what is absent, and the boundary reads that as absent", () => {
    let strict = 0
    fc.assert(
      fc.property(pairs, ([schema, value]) => {
        const projected = projectSchema(schema, SchemaDialect.openAiStrict)
        if (!projected.ok) return
        strict++
        const sent = strictForm(schema, value)
        expect(accepts(projected.schema, sent), JSON.stringify([projected.schema, sent])).toBe(true)
        const guarded = ToolSchema.guardForeignSchema(schema)
        if (!guarded.ok) throw guarded.refusal
        const parsed = ToolArgs.parseToolArgs({ id: "tool", inputSchema: guarded.schema }, JSON.stringify(sent))
        expect(parsed.ok && withoutNulls(parsed.value), parsed.ok ? "" : parsed.error.message).toEqual(
          withoutNulls(value)
        )
      }),
      { numRuns: 100 }
    )
    expect(strict).toBeGreaterThan(15)
  })

  it("[T7] is the same each time, and its original is untouched", () => {
    fc.assert(
      fc.property(argumentSchemas, (schema) => {
        const before = structuredClone(schema)
        for (const dialect of [SchemaDialect.openAiStrict, SchemaDialect.google])
          expect(projectSchema(schema, dialect)).toEqual(projectSchema(structuredClone(schema), dialect))
        expect(schema).toEqual(before)
      })
    )
  })
})
