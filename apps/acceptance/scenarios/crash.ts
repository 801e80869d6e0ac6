/**
 * The proof by killing: every cell of the table, dead at every point, recovered in another process. Prints one closing
 * line of figures and ends with 1 where a law is broken. Arguments choose cells by a part of their name.
 */
import { fileURLToPath } from "node:url"
import { crashProgram, killAtEveryPoint } from "@toolwright/testing"
import { controlScenarios, crashTable } from "./crashTable.js"

const all = [...crashTable, ...controlScenarios]

const underWay = new Set(["dispatch.after", "signal.accepted", "approve.afterCommit"])

if (!(await crashProgram(all))) {
  const parts = process.argv.slice(2)
  const scenarios = all.map(({ name }) => name).filter((name) => parts.every((part) => name.includes(part)))
  const began = Date.now()
  const report = await killAtEveryPoint({
    program: fileURLToPath(import.meta.url),
    execArgv: ["--no-warnings"],
    scenarios,
    // Where something is under way, the recovery dies as well, at each of its points.
    twice: ({ occurrence, point }, scenario) =>
      !scenario.endsWith("parallel") && !scenario.endsWith("second") && occurrence === 1 && underWay.has(point)
  })
  for (const violation of report.violations) console.error(violation)
  const points = new Set(report.reports.flatMap(({ death }) => (death === undefined ? [] : [death.point])))
  const calls = report.reports.flatMap((each) => each.calls)
  const unknown = calls.filter(({ phase }) => phase === "Indeterminate").length
  const again = calls.filter(({ attempts }) => attempts > 1).length
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  console.log(
    `crash: ${report.scenarios} scenarios, ${points.size} named points, ${report.deaths} deaths, ${calls.length} calls ` +
      `(${again} repeated, ${unknown} told as possibly happened), ${report.violations.length} violations, ${seconds} s`
  )
  process.exitCode = report.violations.length === 0 ? 0 : 1
}
