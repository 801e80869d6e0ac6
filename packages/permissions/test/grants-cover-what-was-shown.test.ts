import { Grant as Stored, GateOutcome, type PermissionGate as Contract, ToolBatch } from "@toolwright/runtime-contract"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Grant, GrantRefused, PermissionGate, type RuleSet } from "../src/index.js"
import { gateCall, rule, ticketFor } from "./support.js"

const environment = { workspace: "/ws" }
const thread: Stored.GrantScope = { _tag: "Thread", threadId: "thread-1" }

const stored = (proposal: Stored.GrantProposal, more: Partial<Stored.Grant> = {}): Stored.Grant => ({
  ...proposal,
  id: "g1",
  grantedBy: "ben",
  grantedAt: 1_000,
  ...more
})

const grantFor = (call: Contract.GateCall, more: Partial<Stored.Grant> = {}): Stored.Grant =>
  stored(Grant.preview(ticketFor(call), { scope: thread }), more)

const gateWith = (rules: ReadonlyArray<RuleSet.Rule> = []) => PermissionGate.fromPolicy({ rules }, environment)

/** What is left of a gate's answer once grants have spoken, as the runtime lets them. */
const outcome = async (
  gate: Contract.PermissionGate,
  { call, grants }: { readonly call: Contract.GateCall; readonly grants: ReadonlyArray<Stored.Grant> }
): Promise<string> => {
  const given: unknown = await gate.decide(call)
  if (!GateOutcome.isGateOutcome(given)) throw new TypeError("no outcome")
  if (given._tag !== "RequireConfirmation") return given._tag
  const covering: Array<Stored.Grant> = []
  for (const grant of grants) {
    if (!Stored.isInForce(grant, { call, gate: gate.id, workspace: environment.workspace })) continue
    const { match } = grant
    const covers =
      match._tag === "Exact" ? match.digest === call.digest : await gate.remember?.covers(match.pattern, call)
    if (covers === true) covering.push(grant)
  }
  const answered = given.requirements.every((each) =>
    covering.some((grant) => Stored.mayAnswer(grant, { ...each, gate: gate.id }))
  )
  return answered ? "Granted" : "Asked"
}

const refused = (act: () => unknown): string => {
  try {
    act()
    return "nothing"
  } catch (cause) {
    if (!(cause instanceof GrantRefused)) throw cause
    return cause.reason
  }
}

describe("a remembered approval", () => {
  const approved = gateCall("delete_row", { id: "r1" })

  // C059
  it("[H7] covers the call that was shown and nothing wider", async () => {
    const gate = gateWith()
    const grants = [grantFor(approved)]
    const rows: ReadonlyArray<readonly [Contract.GateCall, string]> = [
      [gateCall("delete_row", { id: "r1" }, { callId: "call-2", operationId: "run-1/2/0" }), "Granted"],
      [gateCall("delete_row", { id: "r2" }), "Asked"],
      [gateCall("delete_row", { id: "r1", force: true }), "Asked"],
      // Another server's tool of the same name, and the same tool after its description changed.
      [gateCall("delete_row", { id: "r1" }, { version: "2" }), "Asked"],
      [gateCall("other_delete_row", { id: "r1" }), "Asked"],
      [gateCall("delete_row", { id: "r1" }, { principal: "eve" }), "Asked"],
      [gateCall("delete_row", { id: "r1" }, { threadId: "thread-2" }), "Asked"]
    ]
    expect(await Promise.all(rows.map(async ([call]) => [call, await outcome(gate, { call, grants })]))).toEqual(rows)
  })

  // C061
  it("[H7] never covers another call, whatever the arguments look like when written down", async () => {
    const differ: ReadonlyArray<readonly [unknown, unknown]> = [
      [{ absent: true }, { args: null }],
      [{ a: true }, { a: 1 }],
      [{ a: 5 }, { a: "5" }],
      [{ a: [1, 2] }, { a: [2, 1] }],
      [{}, { a: null }],
      [{ a: "\u00e9" }, { a: "e\u0301" }],
      [{ __proto__x: 1 }, {}]
    ]
    const gate = gateWith()
    for (const [one, other] of differ) {
      const grants = [grantFor(gateCall("del", one as never))]
      expect(await outcome(gate, { call: gateCall("del", one as never), grants })).toBe("Granted")
      expect(await outcome(gate, { call: gateCall("del", other as never), grants })).toBe("Asked")
    }
    const ordered = [grantFor(gateCall("del", { a: 1, b: { c: 2, d: 3 } }))]
    expect(await outcome(gate, { call: gateCall("del", { b: { d: 3, c: 2 }, a: 1 }), grants: ordered })).toBe("Granted")
    const server = [grantFor(gateCall("srv1_del", {}))]
    expect(await outcome(gate, { call: gateCall("srv2_del", {}), grants: server })).toBe("Asked")
  })

  // C061
  it("[H7] is not offered for arguments that do not have the ticket's digest", () => {
    const ticket = { ...ticketFor(approved), arguments: { id: "r2" } }
    expect(refused(() => Grant.preview(ticket, { scope: thread }))).toBe("Arguments")
  })

  it("[H7] is not offered where one approver is not enough, or no gate asked", () => {
    expect([
      refused(() => Grant.preview(ticketFor(approved, { quorum: 2 }), { scope: thread })),
      refused(() => Grant.preview({ ...ticketFor(approved), requirements: [{ reason: "asked" }] }, { scope: thread })),
      refused(() => Grant.preview({ ...ticketFor(approved), kind: "Client" }, { scope: thread }))
    ]).toEqual(["Quorum", "NoGate", "NoGate"])
  })

  it("[H7] is shown in full before it is stored, secrets hidden", async () => {
    const call = gateCall("login", { user: "ann", password: "hunter2", note: "a\u202eb" })
    const schema = { type: "object", properties: { password: { type: "string", secret: true } } }
    const request = { ticket: ticketFor(call), scope: thread, schema, expiresAt: 5_000 }
    expect(await gateWith().remember?.preview(request)).toEqual({
      version: 1,
      gate: "permissions",
      toolId: "login",
      toolIdentity: call.tool.identity,
      principal: "ann",
      scope: thread,
      match: { _tag: "Exact", digest: ToolBatch.digestOf(call.arguments) },
      text: 'login(= {"note":"a⟨U+202E⟩b","password":"•••","user":"ann"})',
      expiresAt: 5_000
    })
  })

  it("[H7] is as wide as the approver writes it, for the same tool and at least the call itself", async () => {
    const call = gateCall("write", { path: "src/a.ts" })
    const ticket = ticketFor(call)
    const proposal = Grant.preview(ticket, { scope: thread })
    const widen = (pattern: string) => Grant.widen(proposal, { pattern, ticket, environment })
    expect(widen('write(path~"src/**")')).toEqual({
      ...proposal,
      match: { _tag: "Pattern", pattern: 'write(path ~ "src/**")' },
      text: 'write(path ~ "src/**")'
    })
    expect([
      refused(() => widen('edit(path ~ "src/**")')),
      refused(() => widen("*")),
      refused(() => widen('write(path ~ "docs/**")')),
      refused(() => widen("write("))
    ]).toEqual(["OtherTool", "OtherTool", "NotCovered", "Pattern"])
    const gate = gateWith([rule('deny write(path ~ "src/locked/**")')])
    const grants = [stored(widen('write(path ~ "src/**")'))]
    const on = (path: string) => outcome(gate, { call: gateCall("write", { path }), grants })
    expect([await on("src/b.ts"), await on("docs/b.ts"), await on("src/locked/b.ts")]).toEqual([
      "Granted",
      "Asked",
      "Block"
    ])
  })

  it("[H7] of a command covers what it names and what the policy allows beside it, and no doubt", async () => {
    const gate = gateWith([rule('allow bash(command ~ "ls *")'), rule('deny read(path ~ "**/.env")')])
    const ticket = ticketFor(gateCall("bash", { command: "git log && ls" }))
    const preview = gate.remember?.preview({
      ticket,
      scope: thread,
      schema: undefined,
      rule: 'bash(command ~ "git *")'
    })
    const proposal = await (preview as PromiseLike<Stored.GrantProposal>)
    const on = (command: string) => outcome(gate, { call: gateCall("bash", { command }), grants: [stored(proposal)] })
    expect([
      await on("git log && ls"),
      await on("git show README.md"),
      await on("git log && rm x"),
      await on("git $(rm x)"),
      await on("$X git log"),
      await on("git show .env")
    ]).toEqual(["Granted", "Granted", "Asked", "Asked", "Asked", "Asked"])
  })

  it("[H7] never beats a deny", () => {
    const behaviors = fc.constantFrom<RuleSet.Behavior>("allow", "ask", "deny")
    const patterns = fc.constantFrom("delete_row", "*", 'delete_row(id = "r1")', 'delete_row(id ~ "r*")')
    const rules = fc.array(fc.record({ behavior: behaviors, pattern: patterns }), { maxLength: 4 })
    const pattern = stored(grantFor(approved), { match: { _tag: "Pattern", pattern: "delete_row" } })
    return fc.assert(
      fc.asyncProperty(rules, fc.constantFrom(grantFor(approved), pattern), async (given, grant) => {
        const gate = gateWith(given)
        const plain = await outcome(gate, { call: approved, grants: [] })
        const granted = await outcome(gate, { call: approved, grants: [grant] })
        expect(granted).toBe(plain === "Asked" ? "Granted" : plain)
      }),
      { numRuns: 300 }
    )
  })

  it("[H7] answers only what its giver could have answered alone", async () => {
    const rows: ReadonlyArray<readonly [RuleSet.Rule, string]> = [
      [{ pattern: "delete_row", behavior: "ask", quorum: 2 }, "Asked"],
      [{ pattern: "delete_row", behavior: "ask", quorum: 1 }, "Granted"],
      [{ pattern: "delete_row", behavior: "ask", approvers: ["cat"] }, "Asked"],
      [{ pattern: "delete_row", behavior: "ask", approvers: ["ben", "cat"] }, "Granted"],
      [{ pattern: "delete_row", behavior: "ask", requesterMayAnswer: false }, "Granted"]
    ]
    const on = (each: RuleSet.Rule, grant = grantFor(approved)) =>
      outcome(gateWith([each]), { call: approved, grants: [grant] })
    expect(await Promise.all(rows.map(async ([each]) => [each, await on(each)]))).toEqual(rows)
    const alone: RuleSet.Rule = { pattern: "delete_row", behavior: "ask", requesterMayAnswer: false }
    expect(await on(alone, grantFor(approved, { grantedBy: "ann" }))).toBe("Asked")
    expect(await on(rule("ask *"), grantFor(approved, { gate: "other" }))).toBe("Asked")
    expect(await on(rule("ask *"), grantFor(approved, { expiresAt: 1_000 }))).toBe("Asked")
  })

  it("[H7] cannot leave out a rule's terms, however many parts a command has", async () => {
    const gate = gateWith([{ pattern: 'bash(command ~ "last *")', behavior: "ask", quorum: 2 }])
    const command = [...Array.from({ length: 40 }, (_, index) => `c${index}`), "last"].join("; ")
    const given: unknown = await gate.decide(gateCall("bash", { command }))
    expect(given).toMatchObject({
      _tag: "RequireConfirmation",
      requirements: [{ quorum: 2 }, ...Array.from({ length: 16 }, () => ({}))]
    })
  })
})
