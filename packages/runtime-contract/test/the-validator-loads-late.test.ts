/** Importing the contract loads no validator: the first definition does, and a bundled program may hand one in. */
import type * as AjvModule from "ajv/dist/2020.js"
import { createRequire } from "node:module"
import { Type } from "typebox"
import { expect, it } from "vitest"

const loaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => /[/\\]ajv[/\\]/.test(file))

it("[T7] Ajv is loaded by the first definition, not by the import", async () => {
  const { closeArgs } = await import("../src/ToolSchema.js")
  const { parseToolArgs } = await import("../src/ToolArgs.js")
  const before = loaded()
  const { schema } = closeArgs(Type.Object({ a: Type.String() }))
  expect({ before, after: loaded(), works: parseToolArgs({ id: "t", inputSchema: schema }, '{"a":"b"}').ok }).toEqual({
    before: false,
    after: true,
    works: true
  })
})

it("[T7] a bundled program's own copy is used from then on", async () => {
  const { provideAjv } = await import("../src/ajv.js")
  const { closeArgs } = await import("../src/ToolSchema.js")
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof AjvModule
  const formats = require("ajv-formats/dist/formats.js") as { readonly fullFormats: Record<string, RegExp> }
  provideAjv({ Ajv2020, fullFormats: { ...formats.fullFormats, "shelf-mark": /^[A-Z]\d+$/ } })
  expect(closeArgs(Type.Object({ mark: Type.String({ format: "shelf-mark" }) })).schema["type"]).toBe("object")
})
