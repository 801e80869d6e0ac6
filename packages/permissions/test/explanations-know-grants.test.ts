import { GateOutcome, Grant as Stored, type PermissionGate as Contract } from "@toolwright/runtime-contract"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Grant, PermissionGate, type RuleSet } from "../src/index.js"
import { gateCall, rule, ticketFor } from "./support.js"

const workspace = "/ws"
const scope: Stored.GrantScope = { _tag: "Thread", threadId: "thread-1" }

const gateWith = (...rules: ReadonlyArray<RuleSet.Rule>) => PermissionGate.fromPolicy({ rules }, { workspace })

const granted = (call: Contract.GateCall, more: Partial<Stored.Grant> = {}): Stored.Grant => ({
  ...Grant.preview(ticketFor(call), { scope }),
  id: "g1",
  grantedBy: "ben",
  grantedAt: 1_000,
  ...more
})

const pattern = (text: string): Pick<Stored.Grant, "match" | "text"> => ({
  match: { _tag: "Pattern", pattern: text },
  text
})

const explain = (
  gate: PermissionGate.PolicyGate,
  { call, grants, ...more }: { readonly call: Contract.GateCall; readonly grants: ReadonlyArray<Stored.Grant> }
) =>
  gate.explain(
    { toolId: call.tool.id, arguments: call.arguments },
    { principal: call.principal, now: call.now, grants, ...more }
  )

describe("an explanation with what is remembered", () => {
  const call = gateCall("delete_row", { id: "r1" })

  it("[P8] [H7] names the grant that would allow the call, with its id, scope and rule, and what would be without it", async () => {
    const { decision, grants } = await explain(gateWith(rule("ask delete_row")), { call, grants: [granted(call)] })
    expect(decision).toMatchObject({
      behavior: "allow",
      rule: "grant g1 (thread thread-1)",
      reason: 'delete_row(= {"id":"r1"}) was granted; without it: ask delete_row matches delete_row'
    })
    expect(grants).toEqual([
      {
        grantId: "g1",
        scope: "thread thread-1",
        text: 'delete_row(= {"id":"r1"})',
        answers: true,
        why: "it covers the call"
      }
    ])
    const without = await gateWith(rule("ask delete_row")).explain({ toolId: "delete_row", arguments: { id: "r1" } })
    expect([without.decision.behavior, without.grants]).toEqual(["ask", []])
  })

  it("[H7] says why a grant does not speak: another principal, tool, place or call, too old, too few, or beaten by a deny", async () => {
    const ask = gateWith(rule("ask delete_row"))
    const why = async (more: Partial<Stored.Grant>, gate = ask) => {
      const { decision, grants } = await explain(gate, { call, grants: [granted(call, more)] })
      return [decision.behavior, ...grants.map((one) => one.why)]
    }
    expect(await why({ principal: "eve" })).toEqual(["ask", "it is for eve"])
    expect(await why({ expiresAt: call.now })).toEqual(["ask", "it has expired"])
    expect(await why({ scope: { _tag: "Workspace", workspace: "/other" } })).toEqual(["ask", "it is for another place"])
    expect(await why(pattern('delete_row(id = "r2")'))).toEqual(["ask", "it does not cover the call"])
    expect(await why({ gate: "another" })).toEqual(["ask"])
    expect(await why({ toolId: "delete_rows" })).toEqual(["ask"])
    expect(await why({}, gateWith(rule("deny delete_row")))).toEqual(["deny", "nothing is asked"])
    const two = gateWith({ ...rule("ask delete_row"), quorum: 2 })
    expect((await why({}, two))[0]).toBe("ask")
    const place = { threadId: "another", toolIdentity: "changed" }
    const elsewhere = await ask.explain(
      { toolId: "delete_row", arguments: { id: "r1" } },
      { principal: call.principal, now: call.now, grants: [granted(call)], threadId: place.threadId }
    )
    expect(elsewhere.grants[0]?.why).toBe("it is for another place")
    const changed = await ask.explain(
      { toolId: "delete_row", arguments: { id: "r1" } },
      { principal: call.principal, now: call.now, grants: [granted(call)], toolIdentity: place.toolIdentity }
    )
    expect(changed.grants[0]?.why).toBe("it is for another form of the tool")
  })

  it("[P8] [H7] allows exactly where the gate's question is answered by grants as the runtime lets them", async () => {
    const ids = fc.constantFrom("r1", "r2", "x")
    const behaviors = fc.constantFrom("ask", "deny", "allow")
    const rules = fc.array(
      fc
        .tuple(behaviors, ids, fc.boolean(), fc.constantFrom(undefined, ["ben"], ["eve"]))
        .map(([behavior, id, isBare, approvers]): RuleSet.Rule => ({
          ...rule(`${behavior} delete_row${isBare ? "" : `(id = "${id}")`}`),
          ...(behavior === "ask" && approvers !== undefined ? { approvers } : {})
        })),
      { maxLength: 4 }
    )
    const grants = fc.array(
      fc
        .tuple(ids, fc.boolean(), fc.constantFrom("ben", "eve", "ada"), fc.constantFrom("ada", "bob"))
        .map(([id, isExact, grantedBy, principal]): Stored.Grant =>
          granted(gateCall("delete_row", { id }), {
            ...(isExact ? {} : pattern(`delete_row(id = "${id}")`)),
            grantedBy,
            principal
          })
        ),
      { maxLength: 3 }
    )
    await fc.assert(
      fc.asyncProperty(rules, grants, ids, async (given, some, id) => {
        const gate = gateWith(...given)
        const asked = { ...gateCall("delete_row", { id }), principal: "ada" }
        const outcome = await gate.decide(asked)
        if (!GateOutcome.isGateOutcome(outcome)) throw new TypeError("no outcome")
        const covering: Array<Stored.Grant> = []
        for (const grant of some) {
          const isCovered =
            grant.match._tag === "Exact"
              ? grant.match.digest === asked.digest
              : await gate.remember?.covers(grant.match.pattern, asked)
          if (isCovered === true && Stored.isInForce(grant, { call: asked, gate: gate.id, workspace }))
            covering.push(grant)
        }
        const isAllowed =
          outcome._tag === "Allow" ||
          (outcome._tag === "RequireConfirmation" &&
            outcome.requirements.every((one) =>
              covering.some((grant) => Stored.mayAnswer(grant, { ...one, gate: gate.id }))
            ))
        const { decision } = await explain(gate, { call: asked, grants: some })
        expect(decision.behavior === "allow").toBe(isAllowed)
      }),
      { numRuns: 500 }
    )
  })
})
