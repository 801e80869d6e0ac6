/**
 * The bench of decisions:  node dist/permissions.js [--samples N]
 * CPU per decision and decisions a second for 10, 100 and 1000 rules, without and with a command line; and what a million
 * decisions keep in memory. Non-zero when a decision at 100 rules without a command costs 5 µs or more, or memory grows.
 */
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const here = dirname(fileURLToPath(import.meta.url))
/** `mixed`: rules about five tools. Otherwise all rules name the called tool, and look at these arguments. */
const kinds = ["mixed", "by id", "by two arguments", "by path", "by host", "command"] as const
/** Rows in which every rule names the called tool are the worst case, and are only reported. */
const gated: ReadonlySet<string> = new Set(["mixed", "by id", "by two arguments"])
const counts = [10, 100, 1_000] as const
const worst = 5
const mostKept = 512

const { values } = parseArgs({ options: { samples: { type: "string", default: "5" } } })
const rounds = Number(values.samples)

interface Figure {
  /** µs of CPU a decision. */
  readonly cpu: number
  /** KiB kept after a million decisions, where they were made. */
  readonly kept: number
}

const isFigure = (value: unknown): value is Figure =>
  typeof value === "object" && value !== null && "cpu" in value && "kept" in value

const sample = (kind: string, rules: number, decisions: number): Figure => {
  const args = ["--expose-gc", join(here, "permissions.sample.js"), kind, String(rules), String(decisions)]
  const value: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))
  if (!isFigure(value)) throw new Error(`no figure for ${kind} at ${rules} rules`)
  return value
}

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const figures = new Map<string, Array<number>>()
for (let round = 0; round < rounds; round++)
  for (const kind of kinds)
    for (const rules of counts) {
      const key = `${kind} ${rules}`
      figures.set(key, [...(figures.get(key) ?? []), sample(kind, rules, kind === "command" ? 20_000 : 200_000).cpu])
    }

let broken = 0
console.log(`µs of CPU a decision (decisions/s), medians of ${rounds} processes; Node ${process.version}`)
console.log("".padEnd(20) + counts.map((rules) => `${rules} rules`.padStart(22)).join(""))
for (const kind of kinds) {
  const cells = counts.map((rules) => median(figures.get(`${kind} ${rules}`) ?? []))
  console.log(
    kind.padEnd(20) + cells.map((cpu) => `${cpu.toFixed(2)} (${Math.round(1e6 / cpu)})`.padStart(22)).join("")
  )
  if (gated.has(kind) && (cells[1] ?? Number.NaN) >= worst) {
    broken++
    console.log(`  above ${worst} µs at 100 rules`)
  }
}
const { kept } = sample("by two arguments", 100, 1_000_000)
console.log(`kept after 1,000,000 decisions: ${kept.toFixed(0)} KiB`)
if (kept >= mostKept) broken++
if (broken > 0) process.exitCode = 1
