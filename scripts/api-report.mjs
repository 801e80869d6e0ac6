// API report = the emitted declarations that the exports of a public package can reach, committed as etc/<name>.api.md.
// `node scripts/api-report.mjs` writes, `--check` fails on a difference. Needs a build.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { flag, has, packages, read, report, root } from "./lib/tree.mjs"

const problems = []

/** Declaration files of a package, starting from its entries, along relative imports. */
const reachable = (base, entries) => {
  const found = new Set()
  const visit = (file) => {
    if (found.has(file)) return
    if (!has(file)) {
      problems.push(`${file}: missing; build first (pnpm build)`)
      return
    }
    found.add(file)
    for (const [, target] of read(file).matchAll(/(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)\.js["']/g)) {
      visit(posix.join(posix.dirname(file), `${target}.d.ts`))
    }
  }
  for (const entry of entries) visit(posix.join(base, entry))
  return [...found].toSorted()
}

let count = 0
for (const { dir, base, manifest } of packages()) {
  if (manifest.private === true) continue
  count++
  const entries = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : [entry.types]))
  const body = reachable(base, entries).map((file) => {
    const text = read(file).replace(/\n?\/\/# sourceMappingURL=.*\n?$/, "\n")
    return `## ${file.slice(`${base}/dist/`.length)}\n\n\`\`\`ts\n${text}\`\`\`\n`
  })
  const text = `# ${manifest.name}\n\n${body.join("\n")}`
  const out = `etc/${dir}.api.md`
  if (!flag("--check")) {
    mkdirSync(dirname(join(root, out)), { recursive: true })
    writeFileSync(join(root, out), text)
  } else if (!has(out) || read(out) !== text) {
    problems.push(`${out}: the public API changed (pnpm api:report writes it; add a changeset)`)
  }
}
report(problems, `${count} API reports`)
