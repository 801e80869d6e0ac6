// Reads what the test runs of all workspaces left in temp/tests.json and prints one line of figures.
// Fails on a skipped or todo test, on a test that failed, on a workspace with tests but no report, and when none ran.
import { writeFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { has, option, readJson, report, root, walk } from "./lib/tree.mjs"

const problems = []
const sum = { passed: 0, failed: 0, workspaces: 0 }
const isTest = /^((?:(?:packages|apps|tooling)\/[^/]+)|examples)\/test\/.*\.test\.ts$/
const workspaces = new Set(
  ["packages", "apps", "tooling", "examples"]
    .flatMap((dir) => walk(dir, (path) => isTest.test(path)))
    .map((path) => isTest.exec(path)[1])
)
for (const workspace of workspaces) {
  // A workspace whose tests are a check of their own, and not part of `test`, has no report here.
  const manifest = `${workspace}/package.json`
  if (has(manifest) && readJson(manifest).scripts?.test === undefined) continue
  const path = `${workspace}/temp/tests.json`
  if (!has(path)) {
    problems.push(`${workspace}: has tests, but no ${path}`)
    continue
  }
  const tests = readJson(path)
  sum.workspaces++
  sum.passed += tests.numPassedTests
  sum.failed += tests.numFailedTests
  const left = tests.testResults.flatMap((file) =>
    file.assertionResults.filter(({ status }) => status !== "passed" && status !== "failed")
  )
  for (const { fullName, status } of left) problems.push(`${workspace}: ${status}: ${fullName}`)
  if (!tests.success) problems.push(`${workspace}: ${tests.numFailedTests} tests failed`)
}
if (sum.passed === 0) problems.push("no test ran")
const out = option("--out")
if (out !== undefined) {
  mkdirSync(join(root, "temp"), { recursive: true })
  writeFileSync(join(root, out), `${sum.passed} ${sum.failed}\n`)
}
report(problems, `${sum.passed} tests passed in ${sum.workspaces} workspaces, none skipped`)
