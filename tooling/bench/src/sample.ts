/**
 * One sample in a process of its own:  node dist/sample.js CONTENDER KIND ANSWERS STEPS PARALLEL TOOLS REGISTERED RUNS
 * Prints one line of JSON: CPU and wall microseconds for all runs of a round together, peak memory, memory still held
 * afterwards.
 */
import { bareLoop } from "./bareLoop.js"
import { effectLoop } from "./effectLoop.js"
import { leanEffectLoop } from "./leanEffectLoop.js"
import { runtimeLoop } from "./runtimeLoop.js"
import type { Contender, Scenario } from "./scenario.js"

export interface Sample {
  readonly cpu: number
  readonly wall: number
  readonly peakKiB: number
  readonly retainedKiB: number
}

const contenders: Readonly<Record<string, (scenario: Scenario) => Contender>> = {
  bare: bareLoop,
  effect: effectLoop,
  lean: leanEffectLoop,
  runtime: runtimeLoop
}

const [name = "", kind = "", answers = "", ...numbers] = process.argv.slice(2)
const [steps = 1, parallel = 1, tools = 1, registered = 1, runs = 1] = numbers.map(Number)
const make = contenders[name]
if (make === undefined || (kind !== "serial" && kind !== "history" && kind !== "concurrent"))
  throw new Error(`no contender ${name} or kind ${kind}`)
if (answers !== "now" && answers !== "later") throw new Error(`tools answer now or later, not ${answers}`)
const scenario: Scenario = { steps, parallel, tools, registered, answers }
const contender = make(scenario)

const serial = async (count: number): Promise<void> => {
  for (let run = 0; run < count; run++) {
    await contender.run(scenario)
    contender.clear?.()
  }
}
/** Runs stay as long as the round lasts, so that short ones meet the same collector as long ones. */
const history = async (count: number): Promise<void> => {
  for (let run = 0; run < count; run++) await contender.run(scenario)
  contender.clear?.()
}
const concurrent = async (count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, async () => {
      await contender.run(scenario)
      contender.clear?.()
    })
  )
}
const measured = { serial, history, concurrent }[kind]

// Long enough for the compiler of the engine to settle. No forced collection before the measure: it throws away optimised
// code, and what is measured is then the compiler.
const settled = process.cpuUsage()
do await measured(kind !== "concurrent" ? Math.max(1, Math.ceil(runs / 4)) : runs)
while (process.cpuUsage(settled).user < 2_500_000)

// As many rounds as fill a second, so that what the collector does now and then is in the figure with its share.
const cpu = process.cpuUsage()
const wall = process.hrtime.bigint()
let rounds = 0
do {
  await measured(runs)
  rounds++
} while (process.cpuUsage(cpu).user < 1_000_000)
const elapsed = Number(process.hrtime.bigint() - wall) / 1_000
const used = process.cpuUsage(cpu)

const collectGarbage = globalThis.gc ?? ((): void => {})
collectGarbage()
const before = process.memoryUsage().heapUsed
await measured(runs)
collectGarbage()
const sample: Sample = {
  cpu: (used.user + used.system) / rounds,
  wall: elapsed / rounds,
  peakKiB: process.resourceUsage().maxRSS,
  retainedKiB: Math.round((process.memoryUsage().heapUsed - before) / 1024)
}
console.log(JSON.stringify(sample))
