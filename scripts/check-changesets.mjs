// Every published package whose sources changed since its last release is named by a changeset, or by its own changelog
// when the release is being prepared. Without a release tag, or outside git, everything counts as changed.
import { execFileSync } from "node:child_process"
import { has, packages, read, report, root, walk } from "./lib/tree.mjs"

const git = (...args) => {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}

const named = new Set()
for (const path of walk(".changeset", (name) => name.endsWith(".md") && !name.endsWith("README.md"))) {
  const front = /^---\n([\s\S]*?)\n---/.exec(read(path))?.[1] ?? ""
  for (const [, name] of front.matchAll(/^["']?(@?[\w./-]+)["']?\s*:\s*(?:major|minor|patch)\s*$/gm)) named.add(name)
}

const problems = []
const known = new Set(packages().map(({ manifest }) => manifest.name))
for (const name of named) if (!known.has(name)) problems.push(`.changeset names ${name}, which is no package here`)

let changed = 0
for (const { base, manifest } of packages()) {
  if (manifest.private === true) continue
  const tag = git("describe", "--tags", "--abbrev=0", "--match", `${manifest.name}@*`)
  const since = tag === undefined ? "changed" : git("diff", "--name-only", tag, "--", `${base}/src`)
  if (since === "") continue
  changed++
  const prepared = has(`${base}/CHANGELOG.md`) && read(`${base}/CHANGELOG.md`).includes(`## ${manifest.version}`)
  const released = tag === `${manifest.name}@${manifest.version}`
  if (!named.has(manifest.name) && !(prepared && !released)) {
    problems.push(
      `${manifest.name}: src changed since ${tag ?? "the beginning"} and no file in .changeset names it (pnpm changeset)`
    )
  }
}
report(problems, `${changed} changed packages are named by changesets or changelogs`)
