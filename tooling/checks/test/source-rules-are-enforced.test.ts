import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Files, program, repository } from "./fixture.js"

// The repository's own rules, without the type-aware ones: a fixture has no project to read types from.
const config = readFileSync(join(repository, ".oxlintrc.json"), "utf8").replace(
  `"typeAware": true`,
  `"typeAware": false`
)
const lint = (files: Files) =>
  program("oxlint", { ".oxlintrc.json": config, ...files }, "--format", "unix", "--deny-warnings")
const lines = (count: number) => `${Array.from({ length: count }, (_, i) => `export const a${i} = ${i}`).join("\n")}\n`
const longFunction = `export const f = () => {\n${"  globalThis.name\n".repeat(81)}}\n`

describe("oxlint", () => {
  it("passes on what each folder may do", () => {
    const outcome = lint({
      "packages/runtime/src/Runtime.ts": `import type { Tool } from "@toolwright/runtime-contract"\nexport type A = Tool\n`,
      "packages/runtime-contract/src/Tool.ts": `import type { TObject } from "typebox"\nexport type A = TObject\n`,
      "packages/runtime-contract/src/typebox.ts": `export { Type } from "typebox"\n`,
      "packages/runtime-contract/src/ToolBatch.ts": lines(400),
      "packages/testing/src/conformance.ts": `export { describe } from "vitest"\n`,
      "packages/runtime/src/Big.ts": lines(400),
      "packages/permissions/test/big.test.ts": lines(600)
    })
    expect(outcome).toEqual({ status: 0, output: "" })
  })

  it.each<[string, string, string, string]>([
    ["the root of effect", "packages/runtime/src/a.ts", `export { Effect } from "effect"\n`, "no-restricted-imports"],
    [
      "a sibling package",
      "packages/runtime/src/a.ts",
      `export * from "@toolwright/permissions"\n`,
      "no-restricted-imports"
    ],
    [
      "a sibling's entry",
      "packages/runtime/src/a.ts",
      `export * from "@toolwright/testing/x"\n`,
      "no-restricted-imports"
    ],
    [
      "a sibling, dynamically",
      "packages/runtime/src/a.ts",
      `export default import("@toolwright/testing")\n`,
      "no-restricted-imports"
    ],
    [
      "any package in the contract",
      "packages/runtime-contract/src/a.ts",
      `export * from "@toolwright/runtime"\n`,
      "no-restricted-imports"
    ],
    [
      "TypeBox values in the contract",
      "packages/runtime-contract/src/a.ts",
      `export { Type } from "typebox"\n`,
      "no-restricted-imports"
    ],
    [
      "Ajv in the contract",
      "packages/runtime-contract/src/a.ts",
      `export { Ajv2020 } from "ajv/dist/2020.js"\n`,
      "no-restricted-imports"
    ],
    [
      "test libraries in sources",
      "packages/permissions/src/a.ts",
      `export * from "effect/testing/TestClock"\n`,
      "no-restricted-imports"
    ],
    [
      "a generator in the engine",
      "packages/runtime/src/a.ts",
      `import * as Effect from "effect/Effect"\nexport const a = Effect.gen(function* () {})\n`,
      "no-restricted-properties"
    ],
    [
      "a span in the engine",
      "packages/runtime/src/a.ts",
      `import * as Effect from "effect/Effect"\nexport const a = Effect.withSpan("x")\n`,
      "no-restricted-properties"
    ],
    [
      "a traced function in the engine",
      "packages/runtime/src/a.ts",
      `import * as Effect from "effect/Effect"\nexport const a = Effect.fn("x")\n`,
      "no-restricted-properties"
    ],
    ["a file over 400 lines", "packages/runtime/src/a.ts", lines(401), "max-lines"],
    ["a contract file over 250 lines", "packages/runtime-contract/src/a.ts", lines(251), "max-lines"],
    ["a permissions file over 250 lines", "packages/permissions/src/a.ts", lines(251), "max-lines"],
    ["a kernel over 400 lines", "packages/runtime-contract/src/ToolBatch.ts", lines(401), "max-lines"],
    ["a test file over 600 lines", "packages/runtime/test/a.test.ts", lines(601), "max-lines"],
    ["a function over 80 lines", "apps/demo/src/a.ts", longFunction, "max-lines-per-function"],
    [
      "a third positional parameter",
      "packages/runtime/src/a.ts",
      `export const f = (a: 1, b: 2, c: 3) => [a, b, c]\n`,
      "max-params"
    ],
    ["any", "packages/runtime/src/a.ts", `export const f = (a: any) => a\n`, "no-explicit-any"],
    [
      "a silenced type error",
      "packages/runtime/src/a.ts",
      `// @ts-ignore\nexport const a: string = 1\n`,
      "ban-ts-comment"
    ],
    [
      "a skipped test",
      "packages/runtime/test/a.test.ts",
      `import { it } from "vitest"\nit.skip("x", () => {})\n`,
      "no-disabled-tests"
    ],
    [
      "a focused test",
      "packages/runtime/test/a.test.ts",
      `import { it } from "vitest"\nit.only("x", () => {})\n`,
      "no-focused-tests"
    ]
  ])("fails on %s", (_, path, text, rule) => {
    const outcome = lint({ [path]: text })
    expect({ status: outcome.status, found: outcome.output.includes(`(${rule})`) }, outcome.output).toEqual({
      status: 1,
      found: true
    })
  })

  it("fails on a cycle of imports", () => {
    const outcome = lint({
      "packages/runtime/src/a.ts": `import { b } from "./b.js"\nexport const a = () => b\n`,
      "packages/runtime/src/b.ts": `import { a } from "./a.js"\nexport const b = () => a\n`
    })
    expect({ status: outcome.status, found: outcome.output.includes("(no-cycle)") }, outcome.output).toEqual({
      status: 1,
      found: true
    })
  })
})
