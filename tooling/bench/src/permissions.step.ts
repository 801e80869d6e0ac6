/**
 * One sample of what permissions cost in a step, in a process of its own: a number of rules in, or `none` for a gate that
 * only says yes; µs of CPU a step out, and how much of it deciding the same calls costs by itself. The loop is the
 * runtime's, over memory, one call a step.
 */
import { PermissionGate, type RuleSet } from "@toolwright/permissions"
import { GateOutcome, type PermissionGate as Gates } from "@toolwright/runtime-contract"
import { runtimeLoop } from "./runtimeLoop.js"
import { type Contender, type Scenario, toolId } from "./scenario.js"

const scenario: Scenario = { steps: 100, parallel: 1, tools: 10, registered: 10, answers: "now" }
const runs = 60

const yes: Gates.PermissionGate = { id: "yes", decide: () => GateOutcome.allow }

/** About the tools that are called and others, so that no decision is known before the arguments are. */
const patterns: ReadonlyArray<(index: number) => string> = [
  (index) => `${toolId(index % 10)}(city = "C${index}")`,
  (index) => `${toolId(index % 10)}(days > ${14 + index})`,
  (index) => `other_${index}`,
  (index) => `write(path ~ "lib/${index}/**")`,
  (index) => `web_fetch(url.host ~ "*.a${index}.test")`
]
const behaviors: ReadonlyArray<RuleSet.Behavior> = ["deny", "ask", "allow"]

const policyOf = (count: number): Gates.PermissionGate => {
  const rules = Array.from({ length: count - 1 }, (_, index): RuleSet.Rule => ({
    pattern: patterns[index % patterns.length]?.(index) ?? "*",
    behavior: behaviors[index % behaviors.length] ?? "ask"
  }))
  return PermissionGate.fromPolicy(
    { rules: [...rules, { pattern: "tool_*", behavior: "allow" }] },
    { workspace: process.cwd() }
  )
}

const [given = "none"] = process.argv.slice(2)
const gate = given === "none" ? yes : policyOf(Number(given))

const asked: Array<Gates.GateCall> = []
const listening: Gates.PermissionGate = {
  ...gate,
  decide: (call) => {
    if (asked.length < 100) asked.push(call)
    return gate.decide(call)
  }
}

const cpuOf = async (act: () => unknown): Promise<number> => {
  globalThis.gc?.()
  const start = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(start)
  return user + system
}

const repeat = async (loop: Contender, count: number): Promise<void> => {
  for (let done = 0; done < count; done++) await loop.run(scenario)
}

const decisions = 200_000
const decide = (): void => {
  for (let index = 0; index < decisions; index++) {
    const call = asked[index % asked.length]
    if (call !== undefined) void gate.decide(call)
  }
}

await repeat(runtimeLoop(scenario, listening), 1)
// Long enough for the compiler of the engine to settle.
const measured = runtimeLoop(scenario, gate)
const settled = process.cpuUsage()
do await repeat(measured, 10)
while (process.cpuUsage(settled).user < 1_500_000)
const step = (await cpuOf(() => repeat(measured, runs))) / (runs * (scenario.steps + 1))
decide()
const decision = (await cpuOf(decide)) / decisions
process.stdout.write(JSON.stringify({ step, decision: (decision * scenario.steps) / (scenario.steps + 1) }))
