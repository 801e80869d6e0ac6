/** One sample of the bench of decisions, in a process of its own: kind, rules and decisions in, a figure out as JSON. */
import { FileSystemView, Policy, type RuleSet } from "@toolwright/permissions"
import { ShellCommand } from "@toolwright/permissions/shell"

interface Case {
  readonly pattern: (index: number) => string
  readonly call: Policy.PolicyCall
}

const cases: Readonly<Record<string, Case>> = {
  "by id": { pattern: (index) => `tool_${index}`, call: { toolId: "tool_5", arguments: {} } },
  "by two arguments": {
    pattern: (index) => `pay(amount > ${1_000 + index}, currency = "C${index}")`,
    call: { toolId: "pay", arguments: { amount: 5, currency: "EUR" } }
  },
  "by path": {
    pattern: (index) => `write(path ~ "lib/${index}/**")`,
    call: { toolId: "write", arguments: { path: "src/deep/a.ts" } }
  },
  "by host": {
    pattern: (index) => `web_fetch(url.host ~ "*.a${index}.test")`,
    call: { toolId: "web_fetch", arguments: { url: "https://docs.b.test/page" } }
  },
  command: {
    pattern: (index) => `bash(command ~ "cmd${index} *")`,
    call: { toolId: "bash", arguments: { command: "git log --oneline -n 5 | head -3" } }
  }
}

// What policies look like: rules about many tools, and a call that has to be followed through the file system.
const several = ["by id", "by two arguments", "by path", "by host", "command"].map((kind) => cases[kind])
const mixed: Case = {
  pattern: (index) => several[index % several.length]?.pattern(index) ?? "*",
  call: { toolId: "write", arguments: { path: "src/deep/a.ts" } }
}

const [kind = "", rules = "0", decisions = "0"] = process.argv.slice(2)
const chosen = kind === "mixed" ? mixed : cases[kind]
if (chosen === undefined) throw new Error(`no case ${kind}`)

const behaviors: ReadonlyArray<RuleSet.Behavior> = ["allow", "ask", "deny"]
const policy = Policy.compile(
  {
    rules: Array.from({ length: Number(rules) }, (_, index) => ({
      pattern: chosen.pattern(index),
      behavior: behaviors[index % 3] ?? "ask"
    }))
  },
  // Names in memory: what looking at a disk costs is the disk's.
  { workspace: "/ws", files: FileSystemView.memory({ paths: ["/ws", "/ws/src"] }), shell: ShellCommand.analyse }
)

const collect = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const decide = (count: number): void => {
  // A new object each time, as calls come.
  for (let index = 0; index < count; index++)
    policy.decide({ ...chosen.call, arguments: { ...chosen.call.arguments, index } })
}

decide(Math.min(20_000, Number(decisions)))
const heap = collect()
const start = process.cpuUsage()
decide(Number(decisions))
const { user, system } = process.cpuUsage(start)
process.stdout.write(JSON.stringify({ cpu: (user + system) / Number(decisions), kept: (collect() - heap) / 1_024 }))
