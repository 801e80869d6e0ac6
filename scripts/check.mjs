// Every check but the tests, in order of cost:  node scripts/check.mjs [name ...]
// Prints one line per check, the output of those that fail, and "N passed, N failed". `npm test` must have run before
// (it installs and builds); `pnpm check` does both.
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { env, pnpm, shell } from "./lib/pnpm.mjs"
import { option, repository } from "./lib/tree.mjs"

const checks = {
  format: "oxfmt --check",
  lint: "oxlint --deny-warnings",
  layers: "turbo boundaries",
  effect: "turbo run lint:effect",
  "effect-use": "node scripts/check-effect.mjs",
  "dead-code": "knip --no-progress",
  manifests: "node scripts/check-manifests.mjs",
  requirements: "node scripts/check-requirements.mjs",
  docs: "node scripts/check-docs.mjs",
  changesets: "node scripts/check-changesets.mjs",
  api: "node scripts/api-report.mjs --check",
  "import-weight": "node scripts/check-import-weight.mjs",
  packages: "node scripts/check-packages.mjs",
  fuzz: "turbo run fuzz -- --tries 200000",
  attack: "turbo run attack",
  explore: "node scripts/explore.mjs",
  crash: "node apps/acceptance/scenarios/built.mjs crash ask second",
  simulate: "node apps/acceptance/scenarios/built.mjs simulate --seeds 1000"
}

const out = option("--out")
const wanted = process.argv.slice(2).filter((arg) => arg !== "--out" && arg !== out)
const unknown = wanted.filter((name) => checks[name] === undefined)
if (unknown.length > 0) throw new Error(`no check ${unknown.join(", ")}; there are ${Object.keys(checks).join(", ")}`)

const path = [join(repository, "node_modules", ".bin"), env.PATH].join(delimiter)
// turbo starts the package manager, which need not be on PATH, so the package manager starts turbo
const programs = { node: [process.execPath], turbo: [...pnpm(), "exec", "turbo"] }
let passed = 0
let failed = 0
for (const [name, line] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const [program, ...rest] = line.split(" ")
  const [command, ...args] = [...(programs[program] ?? [program]), ...rest]
  const start = performance.now()
  const child = spawnSync(command, args, {
    cwd: repository,
    env: { ...env, PATH: path },
    shell: shell && program !== "node",
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  if (child.status === 0) {
    passed++
    const said = program === "node" ? child.stdout.trim().split("\n").at(-1) : ""
    console.log(`ok      ${name.padEnd(14)} ${seconds.padStart(5)} s  ${said}`)
  } else {
    failed++
    console.log(`FAILED  ${name.padEnd(14)} ${seconds.padStart(5)} s  ${line}`)
    console.log(`${child.stdout ?? ""}${child.stderr ?? ""}${child.error?.message ?? ""}`.replaceAll(/^/gm, "    "))
  }
}
if (out !== undefined) {
  mkdirSync(join(repository, "temp"), { recursive: true })
  writeFileSync(join(repository, out), `${passed} ${failed}\n`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
