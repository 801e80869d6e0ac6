import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Files, json, program, repository } from "./fixture.js"

const copy = (path: string) => readFileSync(join(repository, path), "utf8")

const workspace = (
  name: string,
  tag: string,
  dependencies: Readonly<Record<string, string>>,
  source: string
): Files => ({
  [`packages/${name}/package.json`]: json({ name: `@toolwright/${name}`, version: "0.1.0", ...dependencies }),
  [`packages/${name}/turbo.json`]: json({ extends: ["//"], tags: [tag] }),
  [`packages/${name}/src/index.ts`]: source
})

const on = (...names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [`@toolwright/${name}`, "workspace:^"]))

const boundaries = (...workspaces: ReadonlyArray<Files>) =>
  program(
    "turbo",
    Object.assign(
      {
        "package.json": json({ name: "fixture", private: true, packageManager: "pnpm@12.4.2" }),
        "pnpm-workspace.yaml": `packages:\n  - "packages/*"\n`,
        "turbo.json": copy("turbo.json")
      },
      ...workspaces
    ) as Files,
    "boundaries"
  )

const contract = workspace("runtime-contract", "contract", {}, "export const a = 1\n")
const testing = workspace(
  "testing",
  "testing",
  { dependencies: on("runtime-contract") } as never,
  "export const t = 1\n"
)
const permissions = workspace(
  "permissions",
  "port",
  { dependencies: on("runtime-contract"), devDependencies: on("testing") } as never,
  `export * from "@toolwright/runtime-contract"\n`
)

describe("turbo boundaries", () => {
  it("passes when ports meet at the contract and test with testing", () => {
    const outcome = boundaries(contract, testing, permissions)
    expect(outcome.status, outcome.output).toBe(0)
  })

  it.each<[string, Files, string]>([
    [
      "a port that depends on a port",
      workspace(
        "runtime",
        "port",
        { dependencies: on("permissions") } as never,
        `export * from "@toolwright/permissions"\n`
      ),
      "allowlist for `@toolwright/runtime`"
    ],
    [
      "a port that tests with a port",
      workspace("runtime", "port", { devDependencies: on("permissions") } as never, "export const r = 1\n"),
      "allowlist for `@toolwright/runtime`"
    ],
    [
      "the contract testing with testing",
      workspace("runtime-contract", "contract", { devDependencies: on("testing") } as never, "export const a = 1\n"),
      "for `@toolwright/runtime-contract`"
    ],
    [
      "testing on a port",
      workspace("testing", "testing", { dependencies: on("permissions") } as never, "export const t = 1\n"),
      "allowlist for `@toolwright/testing`"
    ],
    [
      "an import that leaves its package",
      workspace("runtime", "port", {}, `export * from "../../permissions/src/index.js"\n`),
      "leaves the package"
    ],
    [
      "an import that is not declared",
      workspace("runtime", "port", {}, `export * from "@toolwright/runtime-contract"\n`),
      "runtime-contract"
    ]
  ])("fails on %s", (_, broken, message) => {
    const outcome = boundaries(contract, testing, permissions, broken)
    expect({ status: outcome.status, found: outcome.output.includes(message) }, outcome.output).toEqual({
      status: 1,
      found: true
    })
  })
})
