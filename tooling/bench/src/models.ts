/**
 * The bench of the model port:  node dist/models.js [--samples N]
 * CPU per streamed token and per request, over a server on this machine: the provider package alone (the floor), this
 * project's port with all policies around it, and the AI SDK's own streamText. Non-zero when streamText is cheaper.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const here = dirname(fileURLToPath(import.meta.url))
const contenders = ["floor v3", "toolwright v3", "streamText v3", "floor v4", "toolwright v4", "streamText v4"] as const

interface Row {
  readonly name: string
  readonly tools: number
  readonly tokens: number
  readonly requests: number
  readonly units: number
}

const rows: ReadonlyArray<Row> = [
  { name: "token of 2000", tools: 10, tokens: 2_000, requests: 40, units: 80_000 },
  { name: "request, 10 tools", tools: 10, tokens: 1, requests: 400, units: 400 },
  { name: "request, 100 tools", tools: 100, tokens: 1, requests: 200, units: 200 },
  { name: "request, 1000 tools", tools: 1_000, tokens: 1, requests: 60, units: 60 }
]

const { values } = parseArgs({ options: { samples: { type: "string", default: "5" } } })
const rounds = Number(values.samples)

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const server = spawn(process.execPath, [join(here, "models.server.js")], { stdio: ["pipe", "pipe", "inherit"] })
const [port] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string]

const figures = new Map<string, Array<number>>()
for (let round = 0; round < rounds; round++)
  for (const row of rows)
    for (const contender of contenders) {
      const numbers = [row.tools, row.tokens, row.requests, Number(port)].map(String)
      const printed = execFileSync(process.execPath, [join(here, "models.sample.js"), contender, ...numbers], {
        encoding: "utf8"
      })
      const { cpu } = JSON.parse(printed) as { readonly cpu: number }
      const key = `${row.name} ${contender}`
      figures.set(key, [...(figures.get(key) ?? []), cpu / row.units])
    }
server.stdin.end()

let broken = 0
console.log(`CPU µs, medians of ${rounds} processes; Node ${process.version}`)
console.log("".padEnd(20) + contenders.map((name) => name.padStart(15)).join(""))
for (const row of rows) {
  const of = (contender: string): number => median(figures.get(`${row.name} ${contender}`) ?? [])
  console.log(row.name.padEnd(20) + contenders.map((name) => of(name).toFixed(2).padStart(15)).join(""))
  const over = (contender: string): string => (of(contender) - of(`floor ${contender.slice(-2)}`)).toFixed(2)
  console.log(`${"  over the floor".padEnd(20)}${contenders.map((name) => over(name).padStart(15)).join("")}`)
  for (const line of ["v3", "v4"]) if (of(`toolwright ${line}`) >= of(`streamText ${line}`)) broken++
}
console.log(broken === 0 ? "below streamText in every row" : `NOT below streamText in ${broken} rows`)
process.exitCode = broken === 0 ? 0 : 1
