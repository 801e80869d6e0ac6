// Holds the two manifests to the tests.
// docs/invariants.ts lists the rule ids of the contract; tests cite them as [T4] or [T4, E1] in a title or a comment.
// docs/cases.ts lists failures seen in comparable systems; tests cite them as C017 in a title or a comment.
// Red: a rule that `holds` and no test cites; a cited id that is not listed; a case `tested` by a file that does not cite
// it; an entry expected to fail whose named test is no `it.fails` (a passing `it.fails` is red in the test run itself).
import { split } from "./lib/source.mjs"
import { importData } from "./lib/data-module.mjs"
import { has, read, report, walk } from "./lib/tree.mjs"

const problems = []
const { invariants } = await importData("docs/invariants.ts")
const { cases } = await importData("docs/cases.ts")

const testFile = (path) => /^(?:(?:packages|apps)\/[^/]+\/test\/|examples\/).*\.ts$/.test(path)
const ruleCite = /\[([A-Z]\d{1,3}(?:\s*,\s*[A-Z]\d{1,3})*)\]/g
const caseCite = /\bC\d{3}\b/g
const families = new Set(invariants.map(({ id }) => id[0]))

/** id -> files that cite it */
const cited = new Map()
const cite = (id, file) => cited.set(id, (cited.get(id) ?? new Set()).add(file))
for (const file of ["packages", "apps", "examples"].flatMap((dir) => walk(dir, testFile))) {
  const { prose } = split(read(file))
  for (const [, list] of prose.matchAll(ruleCite))
    for (const id of list.split(/\s*,\s*/)) if (families.has(id[0]) && id.length < 4) cite(id, file)
  for (const [id] of prose.matchAll(caseCite)) cite(id, file)
}

const listed = new Set()
const statuses = { invariant: ["holds", "expected-to-fail"], case: ["tested", "expected-to-fail"] }
const entry = (kind, item, text) => {
  if (listed.has(item.id)) problems.push(`${item.id}: listed twice`)
  listed.add(item.id)
  if (typeof text !== "string" || text.trim() === "") problems.push(`${item.id}: has no statement`)
  if (!statuses[kind].includes(item.status))
    problems.push(`${item.id}: status must be ${statuses[kind].join(" or ")}, is ${item.status}`)
  if (item.status !== "expected-to-fail") return
  if (typeof item.closedBy !== "string")
    problems.push(`${item.id}: expected to fail, and names no package that closes it`)
  if (item.test === undefined) return
  const { file, title } = item.test
  if (!has(file)) problems.push(`${item.id}: expected to fail in ${file}, which does not exist`)
  else {
    const source = read(file)
    const at = source.indexOf(JSON.stringify(title))
    if (at === -1) problems.push(`${item.id}: ${file} has no test "${title}"`)
    else if (!/\b(?:it|test)\.fails\(\s*$/.test(source.slice(0, at))) {
      problems.push(`${item.id}: "${title}" in ${file} is no it.fails any more; mark the entry as done`)
    }
  }
}

for (const item of invariants) {
  entry("invariant", item, item.statement)
  if (item.status === "holds" && !cited.has(item.id)) problems.push(`${item.id}: holds, but no test cites [${item.id}]`)
}
for (const item of cases) {
  entry("case", item, item.promise)
  if (item.status !== "tested") continue
  if (item.by === undefined || !has(item.by)) problems.push(`${item.id}: tested by ${item.by}, which does not exist`)
  else if (!cited.get(item.id)?.has(item.by)) problems.push(`${item.id}: ${item.by} does not cite it`)
}
for (const [id, files] of cited) {
  if (!listed.has(id)) problems.push(`${id}: cited in ${[...files].join(", ")}, but in no manifest`)
}

const count = (list, status) => list.filter((item) => item.status === status).length
const early = [...invariants, ...cases].filter((item) => item.status === "expected-to-fail" && cited.has(item.id))
report(
  problems,
  `${count(invariants, "holds")} of ${invariants.length} rules hold and are cited, ${count(cases, "tested")} of ${cases.length} cases are tested` +
    (early.length > 0 ? `; cited and not yet claimed: ${early.map(({ id }) => id).join(" ")}` : "")
)
