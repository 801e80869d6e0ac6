// What an import loads, by the list of files, not by time. Importing the contract must load neither the root of effect,
// nor Ajv, nor TypeBox's values; importing a package that authors of tools never need must not load a driver.
// Needs a build. Each entry is imported in a process of its own: ES modules are seen by a loader hook, CommonJS by its cache.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { has, packages, report, root } from "./lib/tree.mjs"

const effectRoot = /\/effect\/dist\/index\.js$/
const ajv = /\/node_modules\/ajv(?:-formats)?\//
const typebox = /\/node_modules\/typebox\//
const driver = /\/node_modules\/(?:better-sqlite3|pg|ws|@ai-sdk)\//

/** entry -> what it must not load; any other entry of a package must not load the root of effect or a driver. */
const light = {
  "runtime-contract .": [effectRoot, ajv, typebox],
  "runtime-contract ./memory": [effectRoot, ajv, typebox]
}

const hook = `
import { appendFileSync } from "node:fs"
export const load = async (url, context, next) => { appendFileSync(process.env.LOADED_FILES, url + "\\n"); return next(url, context) }`
const register = `
import { createRequire, register } from "node:module"
import { appendFileSync } from "node:fs"
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})
process.on("exit", () => appendFileSync(process.env.LOADED_FILES, Object.keys(createRequire(process.cwd() + "/").cache).join("\\n") + "\\n"))`

const problems = []
const summary = []
const scratch = mkdtempSync(join(tmpdir(), "import-weight-"))
try {
  for (const { dir, base, manifest } of packages()) {
    for (const [key, entry] of Object.entries(manifest.exports ?? {})) {
      if (typeof entry === "string") continue
      const file = join(base, entry.default).split("\\").join("/")
      if (!has(file)) {
        problems.push(`${file}: missing; build first (pnpm build)`)
        continue
      }
      const list = join(scratch, "files")
      writeFileSync(list, "")
      const child = spawnSync(
        process.execPath,
        [
          "--import",
          `data:text/javascript,${encodeURIComponent(register)}`,
          "--input-type=module",
          "-e",
          `await import(${JSON.stringify(pathToFileURL(join(root, file)).href)})`
        ],
        { encoding: "utf8", env: { ...process.env, LOADED_FILES: list } }
      )
      if (child.status !== 0) problems.push(`${file}: import failed\n${child.stderr}`)
      const files = readFileSync(list, "utf8")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("node:"))
      const name = `${dir} ${key}`
      for (const forbidden of light[name] ?? [effectRoot, driver]) {
        const hit = files.find((loaded) => forbidden.test(loaded))
        if (hit !== undefined)
          problems.push(`${manifest.name} ${key}: importing it loads ${hit.slice(hit.lastIndexOf("node_modules/"))}`)
      }
      summary.push(`${name} ${files.length}`)
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
report(problems, `files loaded: ${summary.join(", ")}`)
