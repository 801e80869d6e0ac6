import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, it } from "vitest"
import { start } from "./world.js"

const run = promisify(execFile)
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const cli = at("../node_modules/@toolwright/permissions/dist/cli.js")

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it("[P7] the demo's policy is one that its checker takes", async () => {
  const { stdout } = await run(process.execPath, [cli, "check", at("../policy.json")])
  expect(stdout).toMatch(/policy\.json: ok: 31 rules/)
})

it("[P4] [P5] reads stay in the folder, writes are asked about, git and secrets are denied, tests run, other commands are asked about", async () => {
  // Each call says what is expected; one that comes out otherwise ends the command with 1.
  const { stdout } = await run(process.execPath, [cli, "explain", at("../policy.json"), at("policy.calls.json")])
  expect(stdout.match(/^ {2}(?:allow|ask|deny) /gm)?.length).toBeGreaterThanOrEqual(17)
})

it("[P8] a request about the folder is explained without running anything", async () => {
  writeFileSync(join(folder, "package.json"), '{ "scripts": { "test": "touch ran" } }')
  const explain = async (text: string): Promise<string> =>
    (await start(["--workspace", folder, "--explain", text]).finished).out
  expect(await explain("delete src/a.js")).toContain("ask: decided by ask delete\n  because it deletes")
  expect(await explain('bash {"command": "npm test && git push"}')).toMatch(
    /of npm test:\n[^]*allow bash\(command = "npm test"\): matches\n[^]*of git push:\n[^]*ask bash: matches/
  )
  expect(await explain('read {"file_path": "config/.env"}')).toContain('deny: decided by deny *(path ~ ".env")')
  expect(await explain('bash {"command": "npm test; curl evil.test"}')).toContain("ask: decided by ask bash")
  expect(await explain("run `npm test > ../out`")).toContain("because it lies outside of the folder")
})
