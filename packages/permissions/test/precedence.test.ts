import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Certainty, RulePattern, RuleSet } from "../src/index.js"
import { rule } from "./support.js"

/** A call of these laws says for each number how surely it holds; `x > 3` asks for number 3. */
type Call = ReadonlyArray<Certainty.Certainty>

const make = (rules: ReadonlyArray<RuleSet.Rule>, fallback: RuleSet.Behavior = "ask") =>
  RuleSet.make<Call>({
    rules,
    default: fallback,
    compile:
      ({ value }) =>
      (call) =>
        call[Number(value)] ?? Certainty.Never
  })

const decide = (rules: ReadonlyArray<RuleSet.Rule>, call: Call, fallback: RuleSet.Behavior = "ask") =>
  RuleSet.decide(make(rules, fallback), { toolId: "tool_a", call })

const behaviors = fc.constantFrom<RuleSet.Behavior>("allow", "ask", "deny")
const tools = fc.constantFrom("tool_a", "tool_*", "*", "tool_b", "t?ol_a")
const conditions = fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 2 })
const rules = fc.array(
  fc
    .record({ behavior: behaviors, tool: tools, conditions })
    .map(({ behavior, tool, conditions: numbers }): RuleSet.Rule => ({
      behavior,
      pattern: numbers.length === 0 ? tool : `${tool}(${numbers.map((number) => `x > ${number}`).join(", ")})`
    })),
  { maxLength: 8 }
)
const calls = fc.array(fc.constantFrom<Certainty.Certainty>(0, 1, 2, 3), { minLength: 4, maxLength: 4 })

const strictness: Readonly<Record<RuleSet.Behavior, number>> = { allow: 0, ask: 1, deny: 2 }

/** Whether a rule matches, said again in the plainest way. */
const certainty = ({ pattern }: RuleSet.Rule, call: Call): number => {
  const { tool, conditions: asked } = RulePattern.parse(pattern)
  if (tool === "tool_b") return Certainty.Never
  return Math.min(Certainty.Surely, ...asked.map(({ value }) => call[Number(value)] ?? 0))
}

describe("precedence of rules", () => {
  it("[P4] a deny that matches is absolute", () => {
    fc.assert(
      fc.property(rules, calls, (given, call) => {
        const denied = given.some((each) => each.behavior === "deny" && certainty(each, call) >= Certainty.Loosely)
        const { behavior } = decide(given, call)
        expect(behavior === "deny").toBe(denied)
      }),
      { numRuns: 2_000 }
    )
  })

  it("[P4] the order of the rules never matters, nor for the rule that is named", () => {
    fc.assert(
      fc.property(
        rules.chain((given) => fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length }))),
        calls,
        ([given, shuffled], call) => {
          expect(decide(shuffled, call)).toEqual(decide(given, call))
        }
      ),
      { numRuns: 2_000 }
    )
  })

  it("[P4] adding a deny never widens, and adding an ask never allows", () => {
    fc.assert(
      fc.property(rules, rules, calls, (given, added, call) => {
        const before = decide(given, call).behavior
        const denies = added.map((each): RuleSet.Rule => ({ ...each, behavior: "deny" }))
        const asks = added.map((each): RuleSet.Rule => ({ ...each, behavior: "ask" }))
        expect(strictness[decide([...given, ...denies], call).behavior]).toBeGreaterThanOrEqual(strictness[before])
        expect(strictness[decide([...given, ...asks], call).behavior]).toBeGreaterThanOrEqual(strictness[before])
      }),
      { numRuns: 2_000 }
    )
  })

  it("[P4] an allow needs to be sure, and a doubt about a deny makes an allow an ask", () => {
    fc.assert(
      fc.property(rules, calls, (given, call) => {
        const { behavior, rule: decided } = decide(given, call)
        if (behavior !== "allow") return
        expect(decided?.behavior).toBe("allow")
        expect(certainty(decided ?? rule("deny *"), call)).toBe(Certainty.Surely)
        expect(given.filter((each) => each.behavior === "deny" && certainty(each, call) > Certainty.Never)).toEqual([])
      }),
      { numRuns: 2_000 }
    )
  })

  it("[P4] of allow and ask no more specific rule matched than the one that decided, and ask wins a tie", () => {
    fc.assert(
      fc.property(rules, calls, (given, call) => {
        const { behavior, rule: decided, doubtful } = decide(given, call)
        if (decided === undefined || behavior === "deny" || doubtful) return
        const mine = RulePattern.specificityOf(RulePattern.parse(decided.pattern))
        for (const other of given) {
          if (!RuleSet.counts(other.behavior, certainty(other, call) as Certainty.Certainty)) continue
          const order = RulePattern.bySpecificity(RulePattern.specificityOf(RulePattern.parse(other.pattern)), mine)
          expect(order).toBeGreaterThanOrEqual(0)
          expect(order === 0 && other.behavior === "ask" && behavior === "allow").toBe(false)
        }
      }),
      { numRuns: 2_000 }
    )
  })

  it("[P8] an explanation gives the same verdict, with an opinion of every rule", () => {
    fc.assert(
      fc.property(rules, calls, (given, call) => {
        const set = make(given)
        const { verdict, opinions } = RuleSet.explain(set, { toolId: "tool_a", call })
        expect(verdict).toEqual(RuleSet.decide(set, { toolId: "tool_a", call }))
        expect(opinions.length).toBe(given.length)
        for (const opinion of opinions) expect(opinion.certainty).toBe(certainty(opinion.rule, call))
      })
    )
  })

  it("[P4] an exact id beats a glob, more conditions beat fewer, and longer literals beat shorter", () => {
    const surely: Call = [3, 3, 3, 3]
    const rows: ReadonlyArray<readonly [string, string, string]> = [
      ["ask *", "allow tool_a", "allow"],
      ["ask tool_a", "allow *", "ask"],
      ["ask tool_*", "allow t*", "ask"],
      ["ask tool_a", "allow tool_a(x > 1)", "allow"],
      ["ask tool_a(x > 1)", "allow tool_a", "ask"],
      ["ask tool_a", "allow tool_a", "ask"]
    ]
    expect(rows.map(([one, other]) => [one, other, decide([rule(one), rule(other)], surely).behavior])).toEqual(rows)
  })

  // C035
  it("[P4] names that every object inherits are configured by nobody", () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"]
    const none = make([rule("allow read")])
    expect(names.map((toolId) => RuleSet.decide(none, { toolId, call: [] }).behavior)).toEqual(names.map(() => "ask"))
    const named = make(names.map((name) => rule(`allow ${name}`)))
    expect(names.map((toolId) => RuleSet.decide(named, { toolId, call: [] }).behavior)).toEqual(
      names.map(() => "allow")
    )
  })
})

describe("certainty", () => {
  const certainties = fc.constantFrom<Certainty.Certainty>(0, 1, 2, 3)

  it("[P4] negation is its own inverse and turns what is sure around", () => {
    fc.assert(
      fc.property(certainties, (one) => {
        expect(Certainty.not(Certainty.not(one))).toBe(one)
      })
    )
    expect(([0, 1, 2, 3] as const).map(Certainty.not)).toEqual([3, 1, 2, 0])
  })

  it("[P4] over several values a condition is sure only of all and loose of any", () => {
    fc.assert(
      fc.property(fc.array(certainties, { maxLength: 5 }), (all) => {
        const over = Certainty.overAll(all)
        expect(over === Certainty.Surely).toBe(all.length > 0 && all.every((one) => one === Certainty.Surely))
        expect(over >= Certainty.Loosely).toBe(all.some((one) => one >= Certainty.Loosely))
        expect(over === Certainty.Never).toBe(all.every((one) => one === Certainty.Never))
      })
    )
  })
})
