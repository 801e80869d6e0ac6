import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { policySchema } from "../src/internal/policyShape.js"
import { PermissionGate, PolicyError, PolicyFile } from "../src/index.js"

const problems = (text: string) =>
  PolicyFile.check(text).problems.map(
    ({ line, column, pointer, expected, received }) => `${line}:${column} ${pointer} ${expected} | ${received}`
  )

const good = `{
  "$schema": "./policy.schema.json",
  "rules": [
    { "pattern": "read", "behavior": "allow" },
    { "pattern": "write(path ~ \\"src/**\\")", "behavior": "ask", "quorum": 2, "approvers": ["ann", "ben"], "timeout": 60000 }
  ],
  "default": "deny",
  "mode": "plan",
  "tools": { "mcp__fs__*": { "effect": "edit", "fields": { "target": "path" } } },
  "variables": ["APP_ENV"],
  "protected": ["**/.git/**"],
  "files": { "write": ["write"], "read": ["read"] }
}`

describe("a policy file", () => {
  it("[P7] that is well formed is a policy", () => {
    expect(PolicyFile.parse(good)).toEqual({
      rules: [
        { pattern: "read", behavior: "allow" },
        { pattern: 'write(path ~ "src/**")', behavior: "ask", quorum: 2, approvers: ["ann", "ben"], timeout: 60_000 }
      ],
      default: "deny",
      mode: "plan",
      tools: { "mcp__fs__*": { effect: "edit", fields: { target: "path" } } },
      variables: ["APP_ENV"],
      protected: ["**/.git/**"],
      files: { write: ["write"], read: ["read"] }
    })
  })

  // C085: as they were reported, and the same mistakes in our own keys.
  it("[P7] with a key twice, an unknown key, another spelling of a behaviour or nothing at all is refused with its place", () => {
    const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      [
        '{"rules":[{"tool":"*","effect":"deny","effect":"allow"}]}',
        [
          '1:11 /rules/0 the key "pattern" | nothing',
          '1:11 /rules/0 the key "behavior" | nothing',
          '1:12 /rules/0/tool one of pattern, behavior, reason, approvers, quorum, requesterMayAnswer, timeout | the unknown key "tool"',
          '1:23 /rules/0/effect one of pattern, behavior, reason, approvers, quorum, requesterMayAnswer, timeout | the unknown key "effect"',
          '1:39 /rules/0/effect every key once | "effect" a second time',
          '1:39 /rules/0/effect one of pattern, behavior, reason, approvers, quorum, requesterMayAnswer, timeout | the unknown key "effect"'
        ]
      ],
      [
        '{"rules":[{"pattern":"*","behavior":"deny","behavior":"allow"}]}',
        ['1:44 /rules/0/behavior every key once | "behavior" a second time']
      ],
      [
        '{"rules":[{"pattern":"shell","behavior":"deny"}],\n "rules":[]}',
        ['2:2 /rules every key once | "rules" a second time']
      ],
      [
        '{"rules":[\n  {"pattern":"shell","behaviour":"deny"}]}',
        [
          '2:3 /rules/0 the key "behavior" | nothing',
          '2:22 /rules/0/behaviour one of pattern, behavior, reason, approvers, quorum, requesterMayAnswer, timeout | the unknown key "behaviour"'
        ]
      ],
      [
        '{"rules":[{"pattern":"shell","behavior":"Deny"}]}',
        ['1:41 /rules/0/behavior one of "allow", "ask", "deny" | "Deny"']
      ],
      [" ", ["1:2  a JSON value | the end of the text"]],
      ["", ["1:1  a JSON value | the end of the text"]],
      ["[]", ["1:1  a policy object | an array"]],
      ["null", ["1:1  a policy object | null"]],
      ["{}", ['1:1  the key "rules" | nothing']],
      ['{"rules":[]} x', ['1:14  nothing after the JSON value | "x"']],
      ['{"rules":[],}', ['1:13  a key in double quotes | "}"']],
      ['// a comment\n{"rules":[]}', ['1:1  a JSON value | "// a comment\\n{\\"rules"']],
      ['{"rules":[{"pattern":"a","behavior":"ask","quorum":0}]}', ["1:52 /rules/0/quorum a whole number from 1 | 0"]],
      ['{"rules":[],"mode":"yolo"}', ['1:20 /mode one of "default", "acceptEdits", "plan", "bypass" | "yolo"']],
      [
        '{"rules":[],"tools":{"__proto__":{"effekt":"read"}}}',
        ['1:35 /tools/__proto__/effekt one of effect, fields, directory | the unknown key "effekt"']
      ]
    ]
    expect(rows.map(([text]) => [text, problems(text)])).toEqual(rows)
  })

  it("[P7] with a bad pattern is refused at the character", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["write(path ~ src)", "1:36"],
      ["write(path", "1:33"],
      ["write()", "1:29"],
      ["wri te", "1:27"],
      ["", "1:22"],
      ['write(path \u007e "src/{a,b}")', "1:36"],
      ['pay(amount < "5")', "1:36"],
      ['read(path ~ "a**")', "1:22"],
      ['web_fetch(url.host ~ "a b")', "1:22"],
      ["bash(command < 5)", "1:22"]
    ]
    const at = (pattern: string) =>
      problems(`{"rules":[{"pattern":${JSON.stringify(pattern)},"behavior":"deny"}]}`)[0]?.split(" ")[0]
    expect(rows.map(([pattern]) => [pattern, at(pattern)])).toEqual(rows)
  })

  it("[P7] that is refused throws one error with every problem and the file's name", () => {
    expect(() => PolicyFile.parse('{"rule":[]}', { file: "policy.json" })).toThrow(
      new PolicyError(
        [
          { pointer: "", line: 1, column: 1, expected: 'the key "rules"', received: "nothing" },
          {
            pointer: "/rule",
            line: 1,
            column: 2,
            expected: "one of $schema, rules, default, mode, tools, variables, protected, files",
            received: 'the unknown key "rule"'
          }
        ],
        { file: "policy.json" }
      )
    )
    expect(() => PolicyFile.parse(" ", { file: "policy.json" })).toThrow(
      "policy.json:1:2: the policy: expected a JSON value, got the end of the text"
    )
  })

  it("[P1] [P7] that is refused blocks, or leaves the policy that was in force", async () => {
    const call = { tool: { id: "read" }, arguments: { path: "a" } } as never
    const broken = PermissionGate.fromText(" ", { workspace: "/ws" })
    expect(await broken.gate.decide(call)).toMatchObject({
      _tag: "Block",
      reason: "the permission policy cannot be read"
    })
    expect(broken.problem).toBeInstanceOf(PolicyError)
    const { gate, replace } = PermissionGate.replaceable('{"rules":[{"pattern":"read","behavior":"deny"}]}', {
      workspace: "/ws"
    })
    expect(replace('{"rules":[{"pattern":"read","behavior":"alow"}]}')).toBeInstanceOf(PolicyError)
    expect(await gate.decide(call)).toMatchObject({ _tag: "Block" })
    expect(replace('{"rules":[{"pattern":"read","behavior":"allow"}]}')).toBeUndefined()
    expect(await gate.decide(call)).toMatchObject({ _tag: "Allow", rule: "allow read" })
  })

  it("[P7] is warned about where it is odd", () => {
    const text = `{ "mode": "bypass", "rules": [
  { "pattern": "bash(command ~ \\"ls*\\")", "behavior": "allow" },
  { "pattern": "thing(target ~ \\"src/**\\")", "behavior": "allow" },
  { "pattern": "bash(command ~ \\"ls *\\")", "behavior": "allow" }
] }`
    expect(PolicyFile.check(text).warnings.map(({ line, message }) => [line, message])).toEqual([
      [1, "mode bypass: everything runs that is not denied"],
      [2, '"ls*" also matches every longer name, lsx among them; "ls *" ends at the word'],
      [3, 'target is not known to be a path, so * also matches /; name it under "tools" if it is one']
    ])
  })

  it("[P7] has the shape that is published for editors", () => {
    const published: unknown = JSON.parse(readFileSync(new URL("../policy.schema.json", import.meta.url), "utf8"))
    expect(published).toEqual(policySchema())
  })
})
