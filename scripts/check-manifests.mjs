// What every package under packages/ must say about itself, and that what it publishes is what it builds:
// publishConfig.exports is `exports` without the source condition, each entry has a source file, MIT and the same
// LICENSE text as the root, a README, the Node range, no install scripts. A published package that holds more than its
// index has tests, and fails without them.
import { has, packages, read, readJson, report, walk } from "./lib/tree.mjs"

const condition = "@toolwright/source"
const problems = []
const licence = has("LICENSE") ? read("LICENSE") : undefined
if (licence === undefined) problems.push("LICENSE: missing at the root")

const withoutSource = (exports) =>
  Object.fromEntries(
    Object.entries(exports).map(([key, entry]) => {
      if (typeof entry === "string") return [key, entry]
      const { [condition]: _, ...rest } = entry
      return [key, rest]
    })
  )

const unread = has("knip.json") ? (readJson("knip.json").ignoreWorkspaces ?? []) : []

let count = 0
for (const { dir, base, manifest } of packages()) {
  count++
  const at = `${base}/package.json`
  const must = (holds, expected) => {
    if (!holds) problems.push(`${at}: ${expected}`)
  }
  must(manifest.name === `@toolwright/${dir}`, `name must be @toolwright/${dir}`)
  must(/^\d+\.\d+\.\d+/.test(manifest.version ?? ""), "version must be a semantic version")
  must(manifest.type === "module", 'type must be "module"')
  must(manifest.license === "MIT", 'license must be "MIT"')
  must(manifest.engines?.node === ">=20.19.0", 'engines.node must be ">=20.19.0"')
  must((manifest.description ?? "").length > 0, "description must not be empty")
  must(manifest.sideEffects === false, "sideEffects must be false: nothing happens on import")
  must(manifest.files?.includes("dist") && manifest.files.includes("src"), 'files must hold "dist" and "src"')
  must(
    !["preinstall", "install", "postinstall", "prepare"].some((name) => manifest.scripts?.[name] !== undefined),
    "a package must not run scripts when it is installed"
  )
  for (const [key, entry] of Object.entries(manifest.exports ?? {})) {
    if (typeof entry === "string") continue
    const [first, source] = Object.entries(entry)[0] ?? []
    must(first === condition, `exports["${key}"] must begin with the condition ${condition}`)
    must(
      manifest.private === true || (typeof source === "string" && has(`${base}/${source}`)),
      `exports["${key}"] names ${source}, which does not exist`
    )
  }
  must(manifest.exports?.["./package.json"] !== undefined, 'exports must hold "./package.json"')
  must(
    JSON.stringify(manifest.publishConfig?.exports) === JSON.stringify(withoutSource(manifest.exports ?? {})),
    `publishConfig.exports must be exports without the condition ${condition}`
  )
  for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (name.startsWith("@toolwright/")) must(range === "workspace:^", `${name} must be asked for as "workspace:^"`)
  }
  if (licence !== undefined) {
    must(has(`${base}/LICENSE`) && read(`${base}/LICENSE`) === licence, "LICENSE must be a copy of the root's")
  }
  must(
    manifest.private === true || !unread.includes(base),
    "a published package may not be in knip.json's ignoreWorkspaces"
  )
  must(has(`${base}/README.md`), "README.md is missing")
  const holdsSomething = walk(`${base}/src`).some((path) => path !== `${base}/src/index.ts`)
  if (manifest.private !== true && holdsSomething) {
    must(!(manifest.scripts?.test ?? "").includes("passWithNoTests"), "a published package may not pass without tests")
    must(walk(`${base}/test`, (path) => path.endsWith(".test.ts")).length > 0, "a published package has tests in test/")
  }
}
report(problems, `${count} package manifests`)
