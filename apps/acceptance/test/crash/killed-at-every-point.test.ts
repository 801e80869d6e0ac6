// C088: the process dies at every point of a run, and the outside world sees no effect twice that must not be repeated.
// The whole table is behind `pnpm crash`; here are all points of the one-call cells, and those of the batch in the others.
import { type CrashReport, type DeathReport, killAtEveryPoint } from "@toolwright/testing"
import { beforeAll, describe, expect, it } from "vitest"
import { built } from "../../scenarios/built.mjs"
import { cells, nameOf } from "../../scenarios/crashTable.js"

/** Batches and second steps: where nothing may be repeated, and where the outside world can be asked. */
const isOfBatch = ({ decision, recovery, shape }: (typeof cells)[number]): boolean =>
  shape !== "one" &&
  ((recovery === "NonRecoverable" && decision !== "deny") || (recovery === "DurableRequest" && decision === "allow"))

const quick = cells.filter((cell) => cell.shape === "one" || isOfBatch(cell)).map(nameOf)
const ofBatch = /^(open|dispatch|outcome|change|publication|publish|approve|signal|recovery)\b/

let report: CrashReport
beforeAll(async () => {
  report = await killAtEveryPoint({
    program: await built("crash"),
    execArgv: ["--no-warnings"],
    scenarios: quick,
    deaths: ({ point }, scenario) => scenario.endsWith(" one") || ofBatch.test(point)
  })
}, 600_000)

const of = (scenario: string): ReadonlyArray<DeathReport> => report.reports.filter((each) => each.scenario === scenario)

/** What each death of a cell came to: entries into the tool, and how its calls are told. */
const told = (scenario: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    of(scenario).map(({ calls, death }) => [
      death === undefined ? "nobody died" : `${death.point} ${death.occurrence}`,
      calls.map(({ attempts, entries, phase }) => `${phase}, ${entries} of ${attempts}`).join("; ") || "never began"
    ])
  )

describe("killed at every point, recovered in another process", () => {
  it.each(quick)("[R8, R7, H4, E1, D4] %s: every law holds behind every death", (scenario) => {
    const found = of(scenario)
    expect(
      found.flatMap(({ death, violations }) =>
        violations.map((what) => `${death?.point} ${death?.occurrence}: ${what}`)
      )
    ).toEqual([])
    expect(found.length).toBeGreaterThan(1)
  })

  it("[R8, R7] a call that may not be repeated: not begun, run once, or told as possibly happened, by where the process died", () => {
    const ranOnce = "Completed, 1 of 1"
    expect(told("NonRecoverable allow one")).toEqual({
      "nobody died": ranOnce,
      "claimed 1": "never began",
      "start.beforeCommit 1": "never began",
      "start.afterCommit 1": ranOnce,
      "inference.before 1": ranOnce,
      "inference.after 1": ranOnce,
      "open.beforeCommit 1": ranOnce,
      "open.afterCommit 1": "Indeterminate, 0 of 1",
      "dispatch.before 1": "Indeterminate, 0 of 1",
      "dispatch.after 1": "Indeterminate, 1 of 1",
      "outcome.known 1": "Indeterminate, 1 of 1",
      "publication.assembled 1": "Indeterminate, 1 of 1",
      "publish.beforeCommit 1": "Indeterminate, 1 of 1",
      "publish.afterCommit 1": ranOnce,
      "inference.before 2": ranOnce,
      "inference.after 2": ranOnce,
      "end.beforeCommit 1": ranOnce,
      "end.afterCommit 1": ranOnce,
      "release.before 1": ranOnce,
      "release.after 1": ranOnce
    })
  })

  it("[R5, R8] a call that can be asked after is run once, and its result adopted", () => {
    const found = told("DurableRequest allow one")
    expect([found["dispatch.before 1"], found["dispatch.after 1"], found["publish.beforeCommit 1"]]).toEqual([
      "Completed, 1 of 2",
      "Completed, 1 of 1",
      "Completed, 1 of 1"
    ])
  })

  it("[R2, R8] a call that may be repeated goes in again under the same operation id", () => {
    const again = of("Idempotent allow one").find(({ death }) => death?.point === "publish.beforeCommit")
    expect(
      again?.effects.map(({ attempt, operationId }) => [operationId === again.effects[0]?.operationId, attempt])
    ).toEqual([
      [true, 1],
      [true, 2]
    ])
  })
})
