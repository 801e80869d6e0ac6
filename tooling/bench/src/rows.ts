/**
 * What is measured, and the limits: a gate that must hold and a goal, both as ratios to a floor measured in the same minute.
 */
import type { Sample } from "./sample.js"
import type { Scenario } from "./scenario.js"

export interface Row {
  readonly name: string
  /** One run after the other, forgotten at once or behind the last, or all at once. */
  readonly kind: "serial" | "history" | "concurrent"
  readonly answers: Scenario["answers"]
  readonly steps: number
  readonly parallel: number
  readonly tools: number
  readonly registered: number
  readonly runs: number
  /** What the figure is divided by. */
  readonly units: number
  readonly unit: string
}

/** A figure of the runtime over the same figure of a floor, or over another row of its own. */
export interface Limit {
  readonly name: string
  readonly row: string
  readonly over: { readonly contender: "effect" } | { readonly row: string }
  readonly figure: (sample: Sample) => number
  readonly gate: number
  readonly goal: number
}

const steps = (count: number, runs: number): Row => ({
  name: `${count} steps`,
  kind: count === 100 ? "serial" : "history",
  answers: "now",
  steps: count,
  parallel: 1,
  tools: 10,
  registered: 10,
  runs,
  units: (count + 1) * runs,
  unit: "step"
})

const parallel = (count: number, runs: number): Row => ({
  name: `${count} parallel calls`,
  kind: "serial",
  answers: "later",
  steps: 20,
  parallel: count,
  tools: 10,
  registered: 10,
  runs,
  units: 20 * count * runs,
  unit: "call"
})

const tools = (count: number): Row => ({
  name: `${count} visible tools`,
  kind: "history",
  answers: "now",
  steps: 100,
  parallel: 1,
  tools: count,
  registered: 1_000,
  runs: 100,
  units: 101 * 100,
  unit: "step"
})

export const rows: ReadonlyArray<Row> = [
  steps(10, 1000),
  steps(100, 100),
  steps(1000, 10),
  parallel(1, 500),
  parallel(16, 60),
  parallel(256, 8),
  // One behind the other, for whoever has such tools: no limit is measured against it.
  { ...parallel(256, 8), name: "256 plain calls", answers: "now" },
  tools(10),
  tools(100),
  tools(1000),
  {
    name: "1000 concurrent runs",
    kind: "concurrent",
    answers: "now",
    steps: 2,
    parallel: 1,
    tools: 10,
    registered: 10,
    runs: 1000,
    units: 1000,
    unit: "run"
  }
]

const cpu = (sample: Sample): number => sample.cpu
const wall = (sample: Sample): number => sample.wall

export const limits: ReadonlyArray<Limit> = [
  { name: "CPU per step, 100 steps", row: "100 steps", over: { contender: "effect" }, figure: cpu, gate: 5, goal: 3 },
  {
    name: "CPU per call, 256 parallel",
    row: "256 parallel calls",
    over: { contender: "effect" },
    figure: cpu,
    gate: 2,
    goal: 1
  },
  {
    name: "CPU per run, 1000 concurrent",
    row: "1000 concurrent runs",
    over: { contender: "effect" },
    figure: cpu,
    gate: 3.5,
    goal: 2.5
  },
  {
    name: "wall per run, 1000 concurrent",
    row: "1000 concurrent runs",
    over: { contender: "effect" },
    figure: wall,
    gate: 4,
    goal: 2.5
  },
  {
    name: "growth, 1000 to 10 steps",
    row: "1000 steps",
    over: { row: "10 steps" },
    figure: cpu,
    gate: 1.1,
    goal: 1.05
  },
  {
    name: "growth, 1000 to 10 tools",
    row: "1000 visible tools",
    over: { row: "10 visible tools" },
    figure: cpu,
    gate: 1.1,
    goal: 1.05
  }
]
