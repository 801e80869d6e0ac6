/**
 * What durability costs:  node dist/durable.js [--samples N]
 * One process per sample, contenders interleaved, medians; ratios are taken per round. Exits non-zero when a gate does
 * not hold. The store, and the whole runtime over it, each against a floor that writes the same records with the same
 * SQLite and does nothing else.
 */
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { concurrentSteps, type DurableContender, type DurableKind, type DurableSample } from "./durable.shape.js"

const here = dirname(fileURLToPath(import.meta.url))
const { values } = parseArgs({ options: { samples: { type: "string", default: "5" } } })
const rounds = Number(values.samples)

const steps = 1_000
const runs = 1_000
const histories = [10, 1_000, 100_000]

const isSample = (value: unknown): value is DurableSample =>
  typeof value === "object" && value !== null && "wall" in value && "parts" in value

const sampleOf = (of: {
  readonly kind: DurableKind
  readonly contender: DurableContender
  readonly size: number
}): DurableSample => {
  const args = [join(here, "durable.sample.js"), of.kind, of.contender, String(of.size)]
  const value: unknown = JSON.parse(execFileSync(process.execPath, ["--no-warnings", ...args], { encoding: "utf8" }))
  if (!isSample(value)) throw new Error(`no sample of ${of.kind} ${of.contender}`)
  return value
}

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

interface Round {
  readonly singleFloor: DurableSample
  readonly singleStore: DurableSample
  readonly concurrentFloor: DurableSample
  readonly concurrentStore: DurableSample
  readonly loads: ReadonlyArray<DurableSample>
  readonly engineSingleFloor: DurableSample
  readonly engineSingle: DurableSample
  readonly engineConcurrentFloor: DurableSample
  readonly engineConcurrent: DurableSample
  readonly recoveries: ReadonlyArray<DurableSample>
}

const all: Array<Round> = []
for (let round = 0; round < rounds; round++)
  all.push({
    singleFloor: sampleOf({ kind: "single", contender: "floor", size: steps }),
    singleStore: sampleOf({ kind: "single", contender: "store", size: steps }),
    concurrentFloor: sampleOf({ kind: "concurrent", contender: "floor", size: runs }),
    concurrentStore: sampleOf({ kind: "concurrent", contender: "store", size: runs }),
    loads: histories.map((size) => sampleOf({ kind: "load", contender: "store", size })),
    engineSingleFloor: sampleOf({ kind: "engineSingle", contender: "floor", size: steps }),
    engineSingle: sampleOf({ kind: "engineSingle", contender: "runtime", size: steps }),
    engineConcurrentFloor: sampleOf({ kind: "engineConcurrent", contender: "floor", size: runs }),
    engineConcurrent: sampleOf({ kind: "engineConcurrent", contender: "runtime", size: runs }),
    recoveries: histories.map((size) => sampleOf({ kind: "recover", contender: "runtime", size }))
  })
// The start of the run is one, its last step another; between them each step may have two.
const { commits = Number.NaN } = sampleOf({ kind: "count", contender: "runtime", size: steps })
const commitsOfStep = (commits - 2) / (steps - 1)

const over = (figure: (round: Round) => number): number => median(all.map(figure))
const perCommit = (sample: DurableSample): number => (sample.wall * 1_000) / (2 * steps)
const perSecond = (sample: DurableSample): number => (runs / sample.wall) * 1_000
const fixed = (value: number, digits = 1): string => value.toFixed(digits)

console.log(`medians of ${rounds} processes; Node ${process.version}`)
console.log(
  `one run of ${steps} steps, two commits each: floor ${fixed(over((r) => perCommit(r.singleFloor)))} µs, store ${fixed(over((r) => perCommit(r.singleStore)))} µs a commit`
)
console.log(
  `file, bytes a step: floor ${fixed(
    over((r) => r.singleFloor.bytes / steps),
    0
  )}, store ${fixed(
    over((r) => r.singleStore.bytes / steps),
    0
  )}`
)
console.log(
  `${runs} runs of ${concurrentSteps} steps at once: floor ${fixed(
    over((r) => perSecond(r.concurrentFloor)),
    0
  )}, store ${fixed(
    over((r) => perSecond(r.concurrentStore)),
    0
  )} runs/s (claim and release included)`
)
for (const [index, size] of histories.entries())
  console.log(`open and load ${size} messages: ${fixed(over((r) => r.loads[index]?.wall ?? Number.NaN))} ms`)

const perStep = (sample: DurableSample): number => (sample.wall * 1_000) / steps
console.log(
  `the runtime, one run of ${steps} steps: floor ${fixed(over((r) => perStep(r.engineSingleFloor)))} µs, runtime ${fixed(over((r) => perStep(r.engineSingle)))} µs a step; processor ${fixed(over((r) => (r.engineSingleFloor.cpu * 1_000) / steps))} and ${fixed(over((r) => (r.engineSingle.cpu * 1_000) / steps))} µs; ${fixed(commitsOfStep, 3)} commits a step`
)
console.log(
  `file, bytes a step: floor ${fixed(
    over((r) => r.engineSingleFloor.bytes / steps),
    0
  )}, runtime ${fixed(
    over((r) => r.engineSingle.bytes / steps),
    0
  )}`
)
console.log(
  `the runtime, ${runs} runs of ${concurrentSteps} steps at once: floor ${fixed(
    over((r) => perSecond(r.engineConcurrentFloor)),
    0
  )}, runtime ${fixed(
    over((r) => perSecond(r.engineConcurrent)),
    0
  )} runs/s`
)
for (const [index, size] of histories.entries())
  console.log(
    `open, recover and end a run of ${size} messages: ${fixed(over((r) => r.recoveries[index]?.wall ?? Number.NaN))} ms`
  )

/** `most`: it must hold; `goal`: what we aim for. */
interface Gate {
  readonly name: string
  readonly figure: (round: Round) => number
  readonly most: number
  readonly goal: number
}

const wallOf = (samples: ReadonlyArray<DurableSample>, index: number): number => samples[index]?.wall ?? Number.NaN
const perMessage = (samples: ReadonlyArray<DurableSample>, index: number): number =>
  (wallOf(samples, index) - wallOf(samples, 0)) / ((histories[index] ?? Number.NaN) - (histories[0] ?? Number.NaN))
const tenth = (sample: DurableSample, index: number): number => sample.parts.at(index) ?? Number.NaN

const gates: ReadonlyArray<Gate> = [
  { name: "a commit, over the floor", figure: (r) => r.singleStore.wall / r.singleFloor.wall, most: 1.5, goal: 1.2 },
  {
    name: "the last tenth of a thousand steps, over the first",
    figure: (r) => tenth(r.singleStore, -1) / tenth(r.singleStore, 0),
    most: 1.3,
    goal: 1.1
  },
  {
    name: "the floor's runs a second, over the store's",
    figure: (r) => r.concurrentStore.wall / r.concurrentFloor.wall,
    most: 3,
    goal: 2.5
  },
  {
    // What it takes to open the file and to compile the readers stands in all three.
    name: "a message loaded of 100,000, over one of 1,000",
    figure: (r) => perMessage(r.loads, 2) / perMessage(r.loads, 1),
    most: 1.5,
    goal: 1
  },
  {
    name: "a step of the runtime, over the floor",
    figure: (r) => r.engineSingle.wall / r.engineSingleFloor.wall,
    most: 1.5,
    goal: 1.2
  },
  {
    name: "the last tenth of the runtime's thousand steps, over the first",
    figure: (r) => tenth(r.engineSingle, -1) / tenth(r.engineSingle, 0),
    most: 1.3,
    goal: 1.1
  },
  { name: "commits of a plain allowed call", figure: () => commitsOfStep, most: 2, goal: 2 },
  {
    name: "the floor's runs a second, over the runtime's",
    figure: (r) => r.engineConcurrent.wall / r.engineConcurrentFloor.wall,
    most: 3,
    goal: 2.5
  },
  {
    name: "a message recovered of 100,000, over one of 1,000",
    figure: (r) => perMessage(r.recoveries, 2) / perMessage(r.recoveries, 1),
    most: 1.5,
    goal: 1
  }
]

let broken = 0
for (const { figure, goal, most, name } of gates) {
  const value = over(figure)
  const verdict = value <= goal ? "goal" : value <= most ? "gate" : "BROKEN"
  if (!(value <= most)) broken++
  console.log(`${verdict.padEnd(7)} ${name}: ${fixed(value, 2)} (at most ${most}, goal ${goal})`)
}
process.exitCode = broken === 0 ? 0 : 1
