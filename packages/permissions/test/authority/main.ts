/**
 * Tries to get denied commands, paths and hosts through the rules, and plain lines stopped by them, on every core.
 *
 *   pnpm fuzz:authority [--tries 200000] [--seed S]
 *
 * Ends with one line of figures; exit 1 where anything got through or was stopped. A seed repeats its run.
 */
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Attempt, attemptAll } from "./attempts.js"

interface Share {
  readonly tries: number
  readonly seed: number
}

const readArguments = (): Share => {
  const { values } = parseArgs({ options: { tries: { type: "string", default: "200000" }, seed: { type: "string" } } })
  const read = (name: string, value: string): number => {
    if (!/^\d{1,9}$/.test(value))
      throw new TypeError(`--${name}: expected a whole number, got ${JSON.stringify(value)}`)
    return Number(value)
  }
  return {
    tries: read("tries", values.tries),
    seed: values.seed === undefined ? Date.now() % 1_000_000_000 : read("seed", values.seed)
  }
}

const inChild = (share: Share): Promise<ReadonlyArray<Attempt>> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [], {
      env: { ...process.env, AUTHORITY_SHARE: JSON.stringify(share) }
    })
    let attempts: ReadonlyArray<Attempt> | undefined
    child.once("message", (message) => {
      attempts = message as ReadonlyArray<Attempt>
    })
    child.once("error", reject)
    child.once("exit", (code) =>
      attempts === undefined ? reject(new Error(`a worker ended with ${code}`)) : resolve(attempts)
    )
  })

const main = async (): Promise<void> => {
  const { tries, seed } = readArguments()
  const start = performance.now()
  const workers = Math.max(1, Math.min(availableParallelism(), 8, Math.ceil(tries / 1_000)))
  const shares = Array.from({ length: workers }, (_, index) => ({
    tries: Math.ceil(tries / workers),
    seed: seed + index * 1_000
  }))
  const attempts = (await Promise.all(shares.map(inChild))).flat()
  const wrong = attempts.filter(({ counterexample }) => counterexample !== undefined)
  const kinds = new Map<string, number>()
  for (const each of attempts) kinds.set(each.kind, (kinds.get(each.kind) ?? 0) + each.tries)
  for (const [kind, count] of kinds) process.stdout.write(`${String(count).padStart(9)}  ${kind}\n`)
  for (const { kind, counterexample } of wrong) process.stdout.write(`wrong: ${kind}: ${counterexample}\n`)
  const total = [...kinds.values()].reduce((sum, count) => sum + count, 0)
  const seconds = ((performance.now() - start) / 1_000).toFixed(1)
  process.stdout.write(`${total} tries, ${wrong.length} violations, seed ${seed}, ${seconds} s\n`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

const share = process.env["AUTHORITY_SHARE"]
if (share === undefined) {
  await main().catch((cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
    process.exitCode = 2
  })
} else {
  process.send?.(attemptAll(JSON.parse(share) as Share), () => process.disconnect?.())
}
