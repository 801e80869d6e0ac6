import type { Json } from "@toolwright/runtime-contract"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Certainty, FileSystemView, RuleSet, type ToolProfile } from "../src/index.js"
import { compileCondition } from "../src/internal/conditionTest.js"
import { Resolver, Subject } from "../src/internal/subject.js"
import type { Place } from "../src/WorkspacePath.js"

// The same question asked twice: of the rules that are found for a call, and of every rule in turn.

const placeOf = (foldsNames: boolean): Place => ({
  workspace: "/ws",
  view: FileSystemView.memory({
    paths: ["/ws", "/ws/a", "/ws/b", "/home/user", "/etc"],
    links: { "/ws/link": "/etc", "/ws/a/loop": "/ws/a/loop", "/ws/b/up": ".." },
    home: "/home/user",
    foldsNames
  })
})

const pick = <A>(...values: ReadonlyArray<A>) => fc.constantFrom(...values)
const hole = "\u0000"

const names = pick("a", "b", "A", "link", "loop", "up", "..", ".", ".env", "e\u0301", "\u00e9", "etc", `x${hole}`)
const path = fc
  .record({
    start: pick("", "", "/", "/ws/", "~/", "./", "../", "file:///ws/"),
    names: fc.array(names, { minLength: 1, maxLength: 3 })
  })
  .map(({ start, names: some }) => start + some.join("/"))
const pathGlob = fc
  .record({
    start: pick("", "", "/", "/ws/", "~/", "**/", "../"),
    names: fc.array(pick("a", "b", "A", "link", ".env", "\u00e9", "*", "a*", "**", "etc"), {
      minLength: 1,
      maxLength: 3
    }),
    end: pick("", "/**", "/*")
  })
  .map(({ start, names: some, end }) => (start + some.join("/") + end).replaceAll("**/**", "**"))

const host = pick("good.test", "a.good.test", "b.a.good.test", "test", "xgood.test", "10.0.0.1", "localhost", "[::1]")
const url = fc
  .record({
    scheme: pick("https://", "http://", "ftp://", "", "HTTPS://"),
    user: pick("", "", "me@"),
    host: fc.oneof(host, pick("GOOD.test.", "0x0a000001", "10.0.0.2", hole, "a..b")),
    rest: pick("", "/", ":8443/x", ":443", "/docs/a%2fb", "?q=1")
  })
  .map(({ scheme, user, host: of, rest }) => scheme + user + of + rest)
const ruled = pick("good.test", "a.good.test", "b.a.good.test", "test", "10.0.0.1", "localhost")
const hostRule = fc.oneof(
  ruled,
  ruled.map((of) => `*.${of}`),
  pick("*", "@internal", "@private", "10.0.0.0/8", "good.test:8443", "*.good.test:*", "test:80")
)

const word = pick("git", "ls", "rm", "git push", "git  log", "\\git", " git", "", `git ${hole}`, "g")
const commandGlob = pick(
  "git *",
  "git",
  "git push",
  "g*",
  "*",
  "rm *",
  "ls",
  "git\\ x *",
  "?s",
  "\\git *",
  "git  push *"
)

const scalar = pick<Json.Json>("x", "y", "5", 5, "true", true, null, "e\u0301", "\u00e9", "")
const quoted = (text: Json.Json): string => JSON.stringify(text)

const condition = fc.oneof(
  fc.tuple(pick("path", "file_path", "other.path", "cwd"), pick("~", "=", "!~"), pathGlob).map(([field, op, glob]) => {
    return `${field} ${op} ${quoted(glob)}`
  }),
  fc.tuple(pick("url.host", "uri.host"), pick("~", "=", "!="), hostRule).map(([field, op, rule]) => {
    return `${field} ${op} ${quoted(rule)}`
  }),
  fc.tuple(pick("https://", "*://"), hostRule).map(([scheme, rule]) => `url ~ ${quoted(`${scheme}${rule}/docs/**`)}`),
  fc
    .tuple(pick("kind", "amount"), pick("=", "!="), scalar)
    .map(([field, op, value]) => `${field} ${op} ${quoted(value)}`),
  commandGlob.map((glob) => `command ~ ${quoted(glob)}`),
  pick("amount > 3", 'kind ~ "x*"', 'kind = ["x"]')
)

const rule = fc
  .record({
    behavior: pick<RuleSet.Behavior>("allow", "ask", "deny", "deny"),
    conditions: fc.oneof(
      { weight: 8, arbitrary: fc.tuple(condition) },
      { weight: 2, arbitrary: fc.tuple(condition, condition) },
      { weight: 1, arbitrary: fc.constant([]) }
    )
  })
  .map(({ behavior, conditions }): RuleSet.Rule => ({
    behavior,
    pattern: conditions.length === 0 ? "too*" : `tool(${conditions.join(", ")})`
  }))

const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined, freq: 3 })
const call = fc
  .record({
    path: maybe(fc.oneof(path, path, path, fc.array(path, { maxLength: 2 }), pick<Json.Json>(5, null))),
    file_path: fc.option(path, { nil: undefined, freq: 2 }),
    cwd: maybe(path),
    url: maybe(fc.oneof(url, url, fc.array(url, { maxLength: 2 }))),
    kind: maybe(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), pick<Json.Json>({ x: 1 }))),
    amount: maybe(scalar),
    part: maybe(fc.record({ exact: word, spellings: fc.array(word, { maxLength: 2 }) }))
  })
  .map(({ part, ...rest }) => ({
    part,
    args: Object.fromEntries(
      Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
    )
  }))

/** Every rule asked in the order of precedence, as the contract says it. */
const inTurn = (opinions: ReadonlyArray<RuleSet.Opinion>, fallback: RuleSet.Behavior): RuleSet.Verdict => {
  const denials = opinions.filter((one) => one.rule.behavior === "deny")
  const denied = denials.find(({ certainty }) => certainty >= Certainty.Loosely)
  if (denied !== undefined) return { behavior: "deny", rule: denied.rule, doubtful: false }
  const found = opinions.find(
    ({ rule: one, certainty, names: isNamed }) =>
      isNamed && one.behavior !== "deny" && RuleSet.counts(one.behavior, certainty)
  )?.rule
  const behavior = found?.behavior ?? fallback
  const doubt = denials.find(({ certainty }) => certainty === Certainty.Possibly)?.rule
  if (doubt !== undefined && behavior === "allow") return { behavior: "ask", rule: doubt, doubtful: true }
  return found === undefined ? { behavior, doubtful: false } : { behavior, rule: found, doubtful: false }
}

const profile: ToolProfile.ToolProfile = {
  effect: "edit",
  fields: {
    path: "path",
    file_path: "path",
    cwd: "path",
    "other.path": "path",
    url: "url",
    uri: "url",
    command: "command"
  }
}

describe("rules that are found are the rules that would match", () => {
  for (const foldsNames of [false, true])
    it(`[P4] the verdict on any call is that of asking every rule in turn, names ${foldsNames ? "folded" : "exact"}`, () => {
      const place = placeOf(foldsNames)
      let decided = 0
      fc.assert(
        fc.property(
          fc.array(rule, { minLength: 12, maxLength: 40, size: "max" }),
          fc.array(call, { minLength: 1, maxLength: 8 }),
          pick<RuleSet.Behavior>("ask", "deny", "allow"),
          (rules, calls, fallback) => {
            const set = RuleSet.make<Subject>({
              rules,
              default: fallback,
              compile: (one) => compileCondition(one, { profile, place })
            })
            for (const { args, part } of calls) {
              const resolver = new Resolver({ place })
              const subject = new Subject(args, { resolver, ...(part === undefined ? {} : { part }) })
              const { verdict, opinions } = RuleSet.explain(set, { toolId: "tool", call: subject })
              expect(verdict).toEqual(inTurn(opinions, fallback))
              if (verdict.rule !== undefined) decided++
            }
          }
        ),
        { numRuns: 1_000 }
      )
      expect(decided).toBeGreaterThan(2_000)
    })

  it("[P4] a thousand rules about other paths, hosts, values or commands are not asked", () => {
    let asked = 0
    const place = placeOf(false)
    const patterns = Array.from({ length: 1_000 }, (_, index) => {
      const about = [
        `path ~ "d${index}/**"`,
        `url.host ~ "*.h${index}.test"`,
        `kind = "k${index}"`,
        `command ~ "c${index} *"`
      ]
      return `tool(${about[index % about.length]})`
    })
    const set = RuleSet.make<Subject>({
      rules: patterns.map((pattern, index) => ({ pattern, behavior: index % 3 === 0 ? "deny" : "allow" })),
      compile: (one) => {
        const test = compileCondition(one, { profile, place })
        return Object.assign((subject: Subject) => (asked++, test(subject)), { narrowing: test.narrowing })
      }
    })
    const decide = (args: Json.JsonObject, command: string) => {
      asked = 0
      const part = { exact: command, spellings: [command] }
      const subject = new Subject(args, { resolver: new Resolver({ place }), part })
      return [RuleSet.decide(set, { toolId: "tool", call: subject }).rule?.pattern, asked]
    }
    expect(decide({ path: "src/a", url: "https://x.test/", kind: "z" }, "ls -l")).toEqual([undefined, 0])
    expect(decide({ path: "d4/a", url: "https://a.h1.test/", kind: "k2" }, "c3 x")).toEqual([
      'tool(command ~ "c3 *")',
      1
    ])
  })
})
