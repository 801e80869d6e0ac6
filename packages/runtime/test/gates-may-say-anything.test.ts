// Gates are foreign code: whatever they answer, write on or keep, the run decides, and its thread can be read again.
import { GateOutcome, type PermissionGate } from "@toolwright/runtime-contract"
import { decodeCommit, encodeCommit } from "@toolwright/runtime-contract/records"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf, type WatchedStore } from "./support/world.js"

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

const worldWith = (gate: PermissionGate.PermissionGate | ReadonlyArray<PermissionGate.PermissionGate>) => {
  const ran: Array<string> = []
  const world = makeWorld({
    script: [{ calls: [call("mail", { to: "bob" })] }, "done"],
    gate,
    tools: () => [rawTool({ id: "mail" }, () => void ran.push("mail"))]
  })
  const run = () => world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
  return { ...world, ran, run }
}

/** Throws for a commit that a store on disk could not give back. */
const readAgain = ({ commits }: WatchedStore): void => {
  const snapshot = commits[0]?.start?.snapshot
  for (const commit of commits) decodeCommit(encodeCommit(commit), { position: commit.id, snapshot: () => snapshot })
}

const saying = (outcome: unknown): PermissionGate.PermissionGate => ({
  id: "odd",
  decide: () => outcome as GateOutcome.GateOutcome
})

const nonsense: ReadonlyArray<readonly [string, unknown]> = [
  ["a rule that is a number", { _tag: "Allow", rule: 5 }],
  ["a rule in a circle", { _tag: "Allow", rule: cyclic }],
  ["a block whose rule is a big integer", { _tag: "Block", reason: "no", rule: 1n }],
  ["a schedule whose kind is an object", { _tag: "Schedule", at: 2_000, actionKind: {} }],
  ["a requirement whose rule is a list", { _tag: "RequireConfirmation", requirements: [{ reason: "x", rule: [] }] }],
  [
    "two approvers asked of one person in two spellings",
    { _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers: ["Bob", "bob "], quorum: 2 }] }
  ],
  [
    "an outcome that throws when it is looked at",
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("never")
        }
      }
    )
  ]
]

describe("what a gate answers", () => {
  it.each(nonsense)("[P1] %s blocks, and the thread can be read again", async (_, outcome) => {
    const { run, ran, watched } = worldWith(saying(outcome))
    expect((await run()).disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(ran).toEqual([])
    readAgain(watched)
  })

  it("[P1] an error whose message is no text blocks", async () => {
    const error = Object.assign(new Error("x"), { message: Symbol("x") })
    const { run, ran, watched } = worldWith({ id: "odd", decide: () => Promise.reject(error) })
    expect((await run()).disposition._tag).toBe("Ended")
    expect(ran).toEqual([])
    readAgain(watched)
  })

  it("[H1] what the contract does not know of a requirement is not on the ticket", async () => {
    const { run, watched } = worldWith(saying({ _tag: "RequireConfirmation", requirements: [{ reason: "x", cyclic }] }))
    const { tickets } = await run()
    expect(tickets.map(({ requirements }) => requirements)).toEqual([[{ reason: "x", gate: "odd" }]])
    readAgain(watched)
  })

  it("[H1] a gate that keeps its answer cannot change who may approve", async () => {
    const approvers = ["bob"]
    const { run, runtime, ran } = worldWith(
      saying({ _tag: "RequireConfirmation", requirements: [{ reason: "x", approvers }] })
    )
    const [ticket] = (await run()).tickets
    approvers.push("eve")
    const answered = runtime.resume(ticket?.id ?? "", { _tag: "Allow" }, { approver: "eve" })
    await expect(answered).rejects.toMatchObject({ name: "TicketRefused", reason: "NotEligible" })
    expect(ran).toEqual([])
  })
})

describe("what a gate is given", () => {
  it("[P3] what one gate writes on the call or on its state is not what the next one sees", async () => {
    const seen: Array<unknown> = []
    const forging: PermissionGate.PermissionGate = {
      id: "forging",
      decide: (given) => {
        for (const [target, change] of [
          [given, { principal: "root" }],
          [given, { arguments: { to: "eve" } }],
          [given.state, { get: () => "forged" }],
          [given.tool, { id: "other" }],
          [given.attribution, { role: "other" }],
          [given.arguments, { to: "eve" }]
        ] as const)
          try {
            Object.assign(target, change)
          } catch {
            // Frozen.
          }
        return GateOutcome.allow
      }
    }
    const judging: PermissionGate.PermissionGate = {
      id: "judging",
      decide: (given) => {
        seen.push(given.principal, given.arguments, given.tool.id, Object.hasOwn(given.state, "get"))
        return GateOutcome.allow
      }
    }
    await worldWith([forging, judging]).run()
    expect(seen).toEqual(["ada", { to: "bob" }, "mail", false])
  })
})

describe("what a tool claims", () => {
  it("[C1] a claim that is none runs alone, and the thread can be read again", async () => {
    const odd = { _tag: "Resources", claims: [{ access: "Write", namespace: {}, key: 5 }] }
    const world = makeWorld({
      script: [{ calls: [call("mail")] }, "done"],
      tools: () => [rawTool({ id: "mail", concurrency: () => odd as never })]
    })
    await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
    const claims = world.watched.commits.flatMap((commit) =>
      commit.batch?._tag === "Open" ? commit.batch.calls.map(({ claim }) => claim) : []
    )
    expect(claims).toEqual([{ _tag: "Serial" }])
    readAgain(world.watched)
  })
})
