/**
 * The proof by bad weather: so many seeds, one world each. Prints one closing line of figures; a seed that breaks a law
 * prints itself and its smallest script, and the program ends with 1.
 *
 * `--seeds N` (default 1,000), `--seed S` (the first one, default 1), `--jobs J` (processes, default 2).
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Runtime } from "@toolwright/runtime"
import { shrink, simulate, type SimulationOptions } from "@toolwright/testing"

const { values } = parseArgs({
  options: { seeds: { type: "string" }, seed: { type: "string" }, jobs: { type: "string" }, part: { type: "boolean" } }
})
const whole = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`expected a whole number, got ${text}`)
  return value
}
const first = whole(values.seed, 1)
// `--seed S` alone is for looking at one world.
const seeds = whole(values.seeds, values.seed === undefined ? 1_000 : 1)
const jobs = Math.max(1, Math.min(whole(values.jobs, 2), seeds))

interface Figures {
  seeds: number
  runs: number
  commits: number
  effects: number
  faults: number
  violations: number
}

const names = ["seeds", "runs", "commits", "effects", "faults", "violations"] as const

const none = (): Figures => ({ seeds: 0, runs: 0, commits: 0, effects: 0, faults: 0, violations: 0 })

const play = async (seed: number, figures: Figures): Promise<void> => {
  const options: SimulationOptions = { seed, makeOwner: (ports) => Runtime.make(ports) }
  const report = await simulate(options)
  figures.seeds++
  figures.runs += report.runs
  figures.commits += report.commits
  figures.effects += report.effects
  figures.faults += report.faults.length
  figures.violations += report.violations.length
  if (report.violations.length === 0) return
  const smallest = await shrink({ ...options, faults: report.faults })
  const told = smallest.violations.length > 0 ? smallest : report
  console.error(
    [
      `seed ${seed}: ${report.violations.length} violations. Again: pnpm simulate --seed ${seed}`,
      ...told.violations.map((what) => `  ${what}`),
      `  with ${told.faults.length} of ${report.faults.length} faults:`,
      ...told.faults.map((fault) => `    ${fault}`)
    ].join("\n")
  )
}

const part = async (): Promise<Figures> => {
  const figures = none()
  for (let seed = first; seed < first + seeds; seed++) await play(seed, figures)
  return figures
}

/** One process for each job, on a range of its own. */
const child = (job: number): Promise<Figures> =>
  new Promise((resolve, reject) => {
    const from = Math.floor((seeds * job) / jobs)
    const to = Math.floor((seeds * (job + 1)) / jobs)
    const args = ["--part", "--seed", String(first + from), "--seeds", String(to - from)]
    const started = spawn(process.execPath, ["--no-warnings", fileURLToPath(import.meta.url), ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let output = ""
    started.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    started.on("close", (code) => {
      if (code !== 0) return reject(new Error(`a part of the simulation ended with ${code}`))
      const numbers = output.trim().split(" ").map(Number)
      const figures = none()
      for (const [index, name] of names.entries()) figures[name] = numbers[index] ?? Number.NaN
      resolve(figures)
    })
  })

/** An owner that died in a simulated world stays at work for ever, so the program does not end by itself. */
const say = (line: string, code: number): void => {
  process.stdout.write(`${line}\n`, () => process.exit(code))
}

if (values.part === true) {
  const figures = await part()
  say(names.map((name) => figures[name]).join(" "), 0)
} else {
  const began = Date.now()
  const parts = jobs === 1 ? [await part()] : await Promise.all(Array.from({ length: jobs }, (_, job) => child(job)))
  const total = none()
  for (const figures of parts) for (const name of names) total[name] += figures[name]
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  say(
    `simulate: ${total.seeds} seeds from ${first}, ${total.runs} runs, ${total.commits} commits, ${total.effects} entries ` +
      `into tools, ${total.faults} faults, ${total.violations} violations, ${seconds} s`,
    total.violations === 0 && total.seeds === seeds ? 0 : 1
  )
}
