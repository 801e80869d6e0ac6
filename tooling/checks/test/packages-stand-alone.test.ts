import { describe, expect, it } from "vitest"
import { check, type Files, json } from "./fixture.js"

const condition = "@toolwright/source"
const licence = "MIT License\n"

const manifest = {
  name: "@toolwright/port",
  version: "0.1.0",
  description: "A port",
  license: "MIT",
  repository: { type: "git", url: "git+https://example.com/port.git" },
  files: ["dist", "src"],
  type: "module",
  sideEffects: false,
  exports: {
    ".": { [condition]: "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./package.json": "./package.json"
  },
  publishConfig: {
    access: "public",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./package.json": "./package.json"
    }
  },
  scripts: { test: "vitest run" },
  engines: { node: ">=20.19.0" }
}

const good: Files = {
  LICENSE: licence,
  "package.json": json({ name: "fixture", private: true }),
  "pnpm-workspace.yaml": `packages:\n  - "packages/*"\n`,
  "packages/port/package.json": json(manifest),
  "packages/port/LICENSE": licence,
  "packages/port/README.md": "# port\n",
  "packages/port/src/index.ts": `export const port = (name: string): string => name\n`,
  "packages/port/dist/index.js": `export const port = (name) => name\n`,
  "packages/port/dist/index.d.ts": `export declare const port: (name: string) => string\n`,
  "packages/port/test/port.test.ts": "",
  "tooling/consumers/port.ts": `import { port } from "@toolwright/port"\nconst name: string = port("a")\nif (name !== "a") throw new Error(name)\n`
}

const withManifest = (change: object): Files => ({ "packages/port/package.json": json({ ...manifest, ...change }) })

describe("check-manifests", () => {
  it("passes on a manifest that says what it must", () => {
    expect(check("check-manifests", good)).toEqual({ status: 0, output: "1 package manifests\n" })
  })

  it.each<[string, Files, string]>([
    [
      "a place among the workspaces that knip ignores",
      { "knip.json": json({ ignoreWorkspaces: ["packages/port"] }) },
      "a published package may not be in knip.json's ignoreWorkspaces"
    ],
    ["another licence", withManifest({ license: "ISC" }), 'license must be "MIT"'],
    ["another licence text", { "packages/port/LICENSE": "mine\n" }, "LICENSE must be a copy of the root's"],
    [
      "an install script",
      withManifest({ scripts: { test: "vitest run", postinstall: "x" } }),
      "a package must not run scripts when it is installed"
    ],
    ["side effects", withManifest({ sideEffects: true }), "sideEffects must be false: nothing happens on import"],
    [
      "published sources",
      withManifest({ publishConfig: { exports: manifest.exports } }),
      `publishConfig.exports must be exports without the condition ${condition}`
    ],
    [
      "a missing README",
      { "packages/port/README.md": "", ...withManifest({ name: "@toolwright/other" }) },
      "name must be @toolwright/port"
    ],
    [
      "passing without tests",
      {
        ...withManifest({ scripts: { test: "vitest run --passWithNoTests" } }),
        "packages/port/src/Port.ts": "export {}\n"
      },
      "a published package may not pass without tests"
    ]
  ])("fails on %s", (_, broken, message) => {
    expect(check("check-manifests", { ...good, ...broken })).toEqual({
      status: 1,
      output: `packages/port/package.json: ${message}\n`
    })
  })
})

describe("check-packages", { timeout: 120_000 }, () => {
  const alone = (broken: Files = {}) => check("check-packages", { ...good, ...broken }, "--this-node")

  it("passes on a package that works from its tarball", () => {
    expect(alone()).toEqual({ status: 0, output: "1 packages stand alone on 1 versions of Node\n" })
  })

  it.each<[string, Files, string]>([
    [
      "declarations that need an undeclared package",
      { "packages/port/dist/index.d.ts": `import type { A } from "elsewhere"\nexport declare const port: A\n` },
      "Cannot find module 'elsewhere'"
    ],
    [
      "code that needs an undeclared package",
      { "packages/port/dist/index.js": `import "elsewhere"\nexport const port = (name) => name\n` },
      "Cannot find package 'elsewhere'"
    ],
    ["an export whose file is not packed", withManifest({ files: ["src"] }), "./dist/index.js"],
    [
      "a user's file that does not type check",
      { "tooling/consumers/port.ts": `import { port } from "@toolwright/port"\nport(1)\n` },
      "use.ts(2,6): error TS2345"
    ],
    [
      "a command that does not start",
      {
        ...withManifest({ bin: { port: "./dist/cli.js" } }),
        "packages/port/dist/cli.js": `#!/usr/bin/env node\nthrow new Error("no help")\n`
      },
      "no help"
    ],
    [
      "a user's file that fails",
      {
        "tooling/consumers/port.ts": `import { port } from "@toolwright/port"\nthrow new Error(port("broken promise"))\n`
      },
      "broken promise"
    ]
  ])("fails on %s", (_, broken, message) => {
    const outcome = alone(broken)
    expect({ status: outcome.status, found: outcome.output.includes(message) }, outcome.output).toEqual({
      status: 1,
      found: true
    })
  })
})

describe("api-report", () => {
  const report = `# @toolwright/port\n\n## index.d.ts\n\n${"```"}ts\nexport declare const port: (name: string) => string\n${"```"}\n`

  it("passes when the committed report is the emitted API", () => {
    expect(check("api-report", { ...good, "etc/port.api.md": report }, "--check")).toEqual({
      status: 0,
      output: "1 API reports\n"
    })
  })

  it("fails when the API is another one", () => {
    expect(check("api-report", { ...good, "etc/port.api.md": report.replace("name", "title") }, "--check")).toEqual({
      status: 1,
      output: "etc/port.api.md: the public API changed (pnpm api:report writes it; add a changeset)\n"
    })
  })
})

describe("check-changesets", () => {
  const named = { ".changeset/first.md": `---\n"@toolwright/port": minor\n---\n\nThe first release.\n` }

  it("passes when a changeset names the changed package", () => {
    expect(check("check-changesets", { ...good, ...named })).toEqual({
      status: 0,
      output: "1 changed packages are named by changesets or changelogs\n"
    })
  })

  it("passes when the package's changelog holds the version that is being prepared", () => {
    expect(check("check-changesets", { ...good, "packages/port/CHANGELOG.md": "# port\n\n## 0.1.0\n" }).status).toBe(0)
  })

  it.each<[string, Files, string]>([
    [
      "a changed package that nothing names",
      {},
      "@toolwright/port: src changed since the beginning and no file in .changeset names it (pnpm changeset)\n"
    ],
    [
      "a changeset for a package that does not exist",
      { ...named, ".changeset/second.md": `---\n"@toolwright/prot": patch\n---\n\nFix.\n` },
      ".changeset names @toolwright/prot, which is no package here\n"
    ]
  ])("fails on %s", (_, broken, message) => {
    expect(check("check-changesets", { ...good, ...broken })).toEqual({ status: 1, output: message })
  })
})

describe("check-import-weight", () => {
  const contract = (code: string): Files => ({
    "packages/runtime-contract/package.json": json({ ...manifest, name: "@toolwright/runtime-contract" }),
    "packages/runtime-contract/dist/index.js": code,
    "packages/runtime-contract/node_modules/ajv/package.json": json({ name: "ajv", type: "commonjs", main: "main.js" }),
    "packages/runtime-contract/node_modules/ajv/main.js": "module.exports = {}\n",
    "packages/runtime-contract/node_modules/effect/package.json": json({
      name: "effect",
      type: "module",
      exports: { ".": "./dist/index.js", "./*": "./dist/*.js" }
    }),
    "packages/runtime-contract/node_modules/effect/dist/index.js": `export * from "./Effect.js"\n`,
    "packages/runtime-contract/node_modules/effect/dist/Effect.js": "export const a = 1\n"
  })

  it("passes when only modules of effect are loaded", () => {
    expect(check("check-import-weight", contract(`export { a } from "effect/Effect"\n`))).toEqual({
      status: 0,
      output: "files loaded: runtime-contract . 2\n"
    })
  })

  it.each([
    ["the root of effect", `export { a } from "effect"\n`, "effect/dist/index.js"],
    ["Ajv through an import", `export * from "ajv"\n`, "ajv/main.js"],
    [
      "Ajv through createRequire",
      `import { createRequire } from "node:module"\nexport const a = createRequire(import.meta.url)("ajv")\n`,
      "ajv/main.js"
    ]
  ])("fails on %s", (_, code, file) => {
    expect(check("check-import-weight", contract(code))).toEqual({
      status: 1,
      output: `@toolwright/runtime-contract .: importing it loads node_modules/${file}\n`
    })
  })
})

describe("test-report", () => {
  const tests = (status: string) =>
    json({
      success: status !== "failed",
      numPassedTests: status === "passed" ? 2 : 1,
      numFailedTests: status === "failed" ? 1 : 0,
      testResults: [
        {
          assertionResults: [
            { status: "passed", fullName: "a" },
            { status, fullName: "b" }
          ]
        }
      ]
    })
  const reported = (status: string) => check("test-report", { ...good, "packages/port/temp/tests.json": tests(status) })

  it("passes when every test passed", () => {
    expect(reported("passed")).toEqual({ status: 0, output: "2 tests passed in 1 workspaces, none skipped\n" })
  })

  it.each([
    ["skipped", "packages/port: skipped: b\n"],
    ["todo", "packages/port: todo: b\n"],
    ["failed", "packages/port: 1 tests failed\n"]
  ])("fails on a %s test", (status, message) => {
    expect(reported(status)).toEqual({ status: 1, output: message })
  })

  it("fails when a workspace's tests did not run", () => {
    expect(check("test-report", good)).toEqual({
      status: 1,
      output: "packages/port: has tests, but no packages/port/temp/tests.json\nno test ran\n"
    })
  })
})
