/**
 * The bench:  pnpm bench [--samples N] [--only TEXT]
 * One process per sample, contenders interleaved, medians. Exits non-zero when a gate does not hold.
 */
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Limit, limits, type Row, rows } from "./rows.js"
import type { Sample } from "./sample.js"

const here = dirname(fileURLToPath(import.meta.url))
const contenders = ["bare", "lean", "effect", "runtime"] as const
type ContenderName = (typeof contenders)[number]

const { values } = parseArgs({
  options: { samples: { type: "string", default: "5" }, only: { type: "string", default: "" } }
})
const count = Number(values.samples)
const chosen = rows.filter((row) => row.name.includes(values.only))

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const isSample = (value: unknown): value is Sample => typeof value === "object" && value !== null && "cpu" in value

const sampleOf = (contender: ContenderName, row: Row): Sample => {
  const args = [
    contender,
    row.kind,
    row.answers,
    ...[row.steps, row.parallel, row.tools, row.registered, row.runs].map(String)
  ]
  const printed = execFileSync(process.execPath, ["--expose-gc", join(here, "sample.js"), ...args], {
    encoding: "utf8"
  })
  const value: unknown = JSON.parse(printed)
  if (!isSample(value)) throw new Error(`no sample from ${contender} ${row.name}`)
  return value
}

type Figures = ReadonlyMap<string, Readonly<Record<ContenderName, ReadonlyArray<Sample>>>>

const measure = (): Figures => {
  const figures = new Map<string, Record<ContenderName, Array<Sample>>>()
  for (const row of chosen) figures.set(row.name, { bare: [], lean: [], effect: [], runtime: [] })
  for (let round = 0; round < count; round++)
    for (const row of chosen)
      for (const contender of contenders) figures.get(row.name)?.[contender].push(sampleOf(contender, row))
  return figures
}

const show = (figures: Figures): void => {
  console.log(`medians of ${count} processes; Node ${process.version}`)
  console.log(
    `${"".padEnd(22)} ${"unit".padEnd(5)} ${contenders.map((name) => `${name} µs`.padStart(11)).join("")}${"peak MiB".padStart(10)}${"held KiB".padStart(10)}`
  )
  for (const row of chosen) {
    const of = figures.get(row.name)
    if (of === undefined) continue
    const cells = contenders.map((name) => (median(of[name].map((s) => s.cpu)) / row.units).toFixed(2).padStart(11))
    const peak = median(of.runtime.map((s) => s.peakKiB / 1024)).toFixed(0)
    const held = median(of.runtime.map((s) => s.retainedKiB)).toFixed(0)
    console.log(
      `${row.name.padEnd(22)} ${row.unit.padEnd(5)} ${cells.join("")}${peak.padStart(10)}${held.padStart(10)}`
    )
    if (row.kind === "concurrent")
      for (const name of contenders)
        console.log(`  ${name}: ${Math.round((row.runs / median(of[name].map((s) => s.wall))) * 1e6)} runs/s`)
  }
}

/** The ratio per round, so that a machine whose speed drifts does not decide. */
const ratioOf = (figures: Figures, limit: Limit): number | undefined => {
  const own = figures.get(limit.row)?.runtime
  const row = rows.find((one) => one.name === limit.row)
  const otherRow = "row" in limit.over ? limit.over.row : limit.row
  const other = figures.get(otherRow)?.["row" in limit.over ? "runtime" : "effect"]
  const units = rows.find((one) => one.name === otherRow)?.units
  if (own === undefined || other === undefined || row === undefined || units === undefined) return undefined
  return median(
    own.map((sample, round) => {
      const beside = other[round]
      return beside === undefined ? Number.NaN : limit.figure(sample) / row.units / (limit.figure(beside) / units)
    })
  )
}

const importTime = (specifier: string): number => {
  const started = process.hrtime.bigint()
  execFileSync(
    process.execPath,
    ["--input-type=module", "-e", specifier === "" ? "" : `await import(${JSON.stringify(specifier)})`],
    { cwd: here }
  )
  return Number(process.hrtime.bigint() - started) / 1e6
}

const figures = measure()
show(figures)
if (values.only === "") {
  const specifiers = [
    "",
    "@toolwright/runtime-contract",
    "@toolwright/builtin-tools",
    "@toolwright/permissions",
    "@toolwright/runtime"
  ]
  const times = specifiers.map((): Array<number> => [])
  for (let round = 0; round < count; round++)
    for (const [index, specifier] of specifiers.entries()) times[index]?.push(importTime(specifier))
  const floor = median(times[0] ?? [])
  for (const [index, specifier] of specifiers.entries())
    if (index > 0)
      console.log(
        `import ${specifier}: ${(median(times[index] ?? []) - floor).toFixed(0)} ms over an empty process of ${floor.toFixed(0)} ms`
      )
}
let broken = 0
for (const limit of limits) {
  const ratio = ratioOf(figures, limit)
  if (ratio === undefined) continue
  const verdict = ratio <= limit.goal ? "goal" : ratio <= limit.gate ? "gate" : "BROKEN"
  if (verdict === "BROKEN") broken++
  console.log(`${limit.name.padEnd(32)} ${ratio.toFixed(2)}x  (gate ${limit.gate}x, goal ${limit.goal}x)  ${verdict}`)
}
process.exitCode = broken === 0 ? 0 : 1
