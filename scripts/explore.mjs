// Walks every reachable state of the kernel: node scripts/explore.mjs [--calls 1|2|3] [--workers N]
// Needs the built packages/testing. Prints each violation with the way to it, and one closing line of figures.
import { availableParallelism } from "node:os"
import { isMainThread, parentPort, Worker } from "node:worker_threads"

const { explore, scenarios } = await import("../packages/testing/dist/Explorer.js")

if (!isMainThread) {
  parentPort.on("message", ({ calls, index }) => {
    parentPort.postMessage(explore({ scenarios: [scenarios(calls)[index]], maxViolations: 3 }))
  })
  parentPort.postMessage(undefined)
} else {
  const option = (name, otherwise) => {
    const at = process.argv.indexOf(`--${name}`)
    return at === -1 ? otherwise : Number(process.argv[at + 1])
  }
  const calls = option("calls", 3)
  const count = option("workers", Math.min(4, availableParallelism()))
  if (![1, 2, 3].includes(calls) || !Number.isInteger(count) || count < 1) {
    console.error("usage: node scripts/explore.mjs [--calls 1|2|3] [--workers N]")
    process.exit(2)
  }
  const started = performance.now()
  const total = scenarios(calls).length
  const sum = { scenarios: 0, states: 0, moves: 0, outcomes: new Set(), violations: [] }
  // The largest stand at the end, so they are handed out first.
  let left = total
  const work = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) })
      worker.on("error", reject)
      worker.on("message", (found) => {
        if (found !== undefined) {
          sum.scenarios += found.scenarios
          sum.states += found.states
          sum.moves += found.moves
          for (const outcome of found.outcomes) sum.outcomes.add(outcome)
          sum.violations.push(...found.violations)
        }
        if (left > 0) worker.postMessage({ calls, index: --left })
        else void worker.terminate().then(resolve)
      })
    })
  await Promise.all(Array.from({ length: count }, work))
  for (const { path, scenario, what } of sum.violations)
    console.log(["VIOLATION", what, JSON.stringify(scenario), ...path].join("\n  "))
  const figures = {
    scenarios: sum.scenarios,
    states: sum.states,
    moves: sum.moves,
    outcomes: sum.outcomes.size,
    violations: sum.violations.length,
    seconds: Number(((performance.now() - started) / 1000).toFixed(1))
  }
  const told = Object.entries(figures).map(([name, figure]) => `${String(figure)} ${name}`)
  console.log(`explore: ${told.join(", ")}`)
  process.exitCode = sum.violations.length > 0 || sum.scenarios !== total ? 1 : 0
}
