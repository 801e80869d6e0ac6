/**
 * The bench of decisions:  node dist/permissions.js [--samples N]
 * CPU per decision and decisions a second for 10, 100 and 1000 rules, without and with a command line; what a million
 * decisions keep in memory; and the share that permissions have in a step of the runtime.
 * Non-zero when a decision at 100 rules without a command costs 5 µs or more, or memory grows.
 */
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const here = dirname(fileURLToPath(import.meta.url))
/** `mixed`: rules about five tools. Otherwise all rules name the called tool, and look at these arguments. */
const kinds = ["mixed", "by id", "by two arguments", "by path", "by host", "command"] as const
/** What a command costs is the grammar's, and is only reported. */
const gated: ReadonlySet<string> = new Set(["mixed", "by id", "by two arguments", "by path", "by host"])
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

/** The gate that only says yes, and policies of so many rules. */
const gates = ["none", "1", "10", "100", "1000"] as const

interface Step {
  /** µs of CPU. */
  readonly step: number
  /** How much of it deciding costs by itself. */
  readonly decision: number
}

const isStep = (value: unknown): value is Step => typeof value === "object" && value !== null && "decision" in value

const stepWith = (gate: string): Step => {
  const args = ["--expose-gc", join(here, "permissions.step.js"), gate]
  const value: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))
  if (!isStep(value)) throw new Error(`no figure for a step with ${gate}`)
  return value
}

const steps = new Map<string, Array<Step>>(gates.map((gate) => [gate, []]))
for (let round = 0; round < rounds; round++) for (const gate of gates) steps.get(gate)?.push(stepWith(gate))
const bare = steps.get("none") ?? []
console.log("\nµs of CPU a step of the runtime with one call; deciding by itself; more than a gate that only says yes")
for (const [gate, samples] of steps) {
  const percent = (share: (sample: Step, round: number) => number): string =>
    `${(median(samples.map(share)) * 100).toFixed(1)} %`.padStart(10)
  const cells = [median(samples.map(({ step }) => step)), median(samples.map(({ decision }) => decision))]
  console.log(
    (gate === "none" ? "only yes" : `${gate} rules`).padEnd(20) +
      cells.map((cell) => cell.toFixed(2).padStart(10)).join("") +
      percent(({ step, decision }) => decision / step) +
      // By round, so that a machine whose speed drifts does not decide.
      percent(({ step }, round) => 1 - (bare[round]?.step ?? Number.NaN) / step)
  )
}
if (broken > 0) process.exitCode = 1
