// The tree that a check looks at: this repository, or the one named by `--root <dir>` (the fixtures of the checks).
// Walks files without git, so a check gives the same answer in an unpacked archive. Never follows symlinks.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"

export const repository = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

export const flag = (name) => process.argv.includes(name)

export const option = (name) => {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}

export const root = resolve(option("--root") ?? repository)

const skipped = new Set(["node_modules", "dist", ".git", ".turbo", "coverage", "temp", "etc"])

/** Paths below `dir` (relative to the root, with slashes), sorted; a missing directory is empty. */
export const walk = (dir, keep = () => true) => {
  const found = []
  const visit = (at) => {
    if (!existsSync(at)) return
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (skipped.has(entry.name)) continue
      const path = join(at, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile()) {
        const name = relative(root, path).split(sep).join("/")
        if (keep(name)) found.push(name)
      }
    }
  }
  visit(join(root, dir))
  return found.toSorted()
}

export const read = (path) => readFileSync(join(root, path), "utf8")

export const has = (path) => existsSync(join(root, path))

export const readJson = (path) => JSON.parse(read(path))

/** The workspaces under packages/: folder name and manifest. */
export const packages = () =>
  !has("packages")
    ? []
    : readdirSync(join(root, "packages"))
        .filter((dir) => has(`packages/${dir}/package.json`))
        .toSorted()
        .map((dir) => ({ dir, base: `packages/${dir}`, manifest: readJson(`packages/${dir}/package.json`) }))

/** Prints the problems and sets the exit status; with none, prints what was looked at. */
export const report = (problems, summary) => {
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(summary)
}
