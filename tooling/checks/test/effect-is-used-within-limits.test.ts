import { describe, expect, it } from "vitest"
import { check, type Files } from "./fixture.js"

/** Everything that looks like a slow or unstable use and is none: text, comments, patterns, other objects. */
const lookalikes = [
  'import * as Effect from "effect/Effect"',
  "// Effect.gen",
  "/* Effect.gen */",
  'export const a = "Effect.gen \\" Effect.gen"',
  "export const b = `Effect.gen ${a + `Effect.gen`} Effect.gen`",
  "export const c = /[/\"'`]Effect\\.gen/",
  "export const d = (x: number) => x / 2 / 3",
  "export const e = (other: { Effect: { gen: 1 } }) => other.Effect.gen"
].join("\n")

const good: Files = {
  "packages/runtime/src/lookalikes.ts": lookalikes,
  "packages/permissions/src/Gate.ts": `import * as Effect from "effect/Effect"\n// Effect.gen is fine here\nexport const gate = Effect.gen(function* () { yield* Effect.void })\n`,
  "packages/runtime/src/Engine.ts": `import * as Effect from "effect/Effect"\nimport { pipe } from "effect/Function"\nexport const a = pipe(Effect.fnUntraced(function* () { yield* Effect.void }))\n`,
  "packages/runtime-contract/src/Tool.ts": 'import type { StandardSchemaV1 } from "effect/StandardSchema"\n',
  "packages/runtime/test/x.test.ts": `import { TestClock } from "effect/testing"\n`
}

describe("check-effect", () => {
  it("passes on stable exports", () => {
    expect(check("check-effect", good)).toEqual({
      status: 0,
      output: "6 uses of Effect are stable, and none in the engine is slow\n"
    })
  })

  it.each<[string, Files, string]>([
    [
      "an unstable module",
      { "packages/runtime-contract/src/a.ts": 'import * as Fs from "effect/FileSystem"\nFs.FileSystem\n' },
      "packages/runtime-contract/src/a.ts:2: effect/FileSystem FileSystem is unstable; only @stability stable may be used here\n"
    ],
    [
      "an unstable name of a folder",
      { "packages/runtime-contract/src/a.ts": 'import { HttpClient } from "effect/http/HttpClient"\n' },
      "packages/runtime-contract/src/a.ts:1: effect/http/HttpClient HttpClient is unstable; only @stability stable may be used here\n"
    ],
    [
      "the root",
      { "packages/permissions/src/a.ts": 'import { Effect } from "effect"\n' },
      "packages/permissions/src/a.ts:1: effect may not be imported here; use a subpath such as effect/Effect\n"
    ],
    [
      "test modules in sources",
      { "packages/permissions/src/a.ts": 'import * as TestClock from "effect/testing/TestClock"\n' },
      "packages/permissions/src/a.ts:1: effect/testing/TestClock may not be imported here; use a subpath such as effect/Effect\n"
    ],
    [
      "a name that does not exist",
      { "packages/permissions/src/a.ts": 'import * as Effect from "effect/Effect"\nEffect.catchAll\n' },
      "packages/permissions/src/a.ts:2: effect/Effect catchAll is not a documented export; only @stability stable may be used here\n"
    ],
    [
      "a dynamic import",
      { "packages/permissions/src/a.ts": 'await import("effect/Effect")\n' },
      "packages/permissions/src/a.ts:1: effect/Effect is imported for its side effects or dynamically; import the module by name\n"
    ],
    [
      "a generator in the engine, under any name",
      { "packages/runtime/src/a.ts": 'import * as E from "effect/Effect"\nE.gen(function* () {})\n' },
      "packages/runtime/src/a.ts:2: Effect.gen is too slow for the engine; write plain code or one Effect.fnUntraced\n"
    ],
    [
      "a generator between the strings of a template",
      {
        "packages/runtime/src/a.ts":
          'import * as Effect from "effect/Effect"\nexport const a = `x ${Effect.gen(function* () {})} y`\n'
      },
      "packages/runtime/src/a.ts:2: Effect.gen is too slow for the engine; write plain code or one Effect.fnUntraced\n"
    ],
    [
      "a traced function in the engine, by name",
      { "packages/runtime/src/a.ts": 'import { fn } from "effect/Effect"\nfn("x")\n' },
      "packages/runtime/src/a.ts:1: Effect.fn is too slow for the engine; write plain code or one Effect.fnUntraced\n"
    ]
  ])("fails on %s", (_, broken, message) => {
    expect(check("check-effect", { ...good, ...broken })).toEqual({ status: 1, output: message })
  })
})
