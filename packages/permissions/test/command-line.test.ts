import { describe, expect, it } from "vitest"
import { run, usage } from "../src/internal/commandLine.js"

const files: Readonly<Record<string, string>> = {
  "good.json":
    '{ "rules": [ { "pattern": "bash(command ~ \\"git *\\")", "behavior": "allow" }, { "pattern": "read(path ~ \\"**/.env\\")", "behavior": "deny" } ] }',
  "odd.json": '{ "mode": "bypass", "rules": [] }',
  "bad.json": '{\n\t"rules": [ { "pattern": "read(", "behavior": "alow" } ]\n}',
  "call.json": '{ "tool": "read", "arguments": { "path": "pkg/.env" } }',
  "calls.json":
    '[ { "tool": "bash", "arguments": { "command": "git log; ls\\u202e" }, "expect": "allow" }, { "tool": "list" } ]',
  "calls-as-expected.json": '[ { "tool": "bash", "arguments": { "command": "git log" }, "expect": "allow" } ]',
  "no-call.json": '[ { "tol": "read" } ]'
}

const runWith = (...args: ReadonlyArray<string>) => {
  const output = { code: 0, out: "", err: "" }
  output.code = run(args, {
    read: (path) => {
      const text = files[path]
      if (text === undefined) throw new Error("no such file")
      return text
    },
    out: (text) => (output.out += text),
    err: (text) => (output.err += text),
    color: false,
    directory: "/ws"
  })
  return output
}

describe("the command line tool", () => {
  it("[P7] says that a policy is one, and how it is odd", () => {
    expect(runWith("check", "good.json")).toEqual({
      code: 0,
      out: "good.json: ok: 2 rules (1 deny, 0 ask, 1 allow), default ask, mode default\n",
      err: ""
    })
    expect(runWith("check", "odd.json")).toEqual({
      code: 0,
      out:
        "odd.json:1:1: warning: mode bypass: everything runs that is not denied\n" +
        "odd.json: ok: 0 rules (0 deny, 0 ask, 0 allow), default ask, mode bypass\n",
      err: ""
    })
  })

  it("[P7] shows every problem at its place and ends with 1", () => {
    expect(runWith("check", "bad.json")).toEqual({
      code: 1,
      out: "",
      err:
        'bad.json:2:47: error: /rules/0/behavior: expected one of "allow", "ask", "deny", got "alow"\n' +
        '   "rules": [ { "pattern": "read(", "behavior": "alow" } ]\n' +
        `  ${" ".repeat(46)}^\n`
    })
    expect(runWith("explain", "bad.json", "call.json").code).toBe(1)
  })

  it("[P8] explains recorded calls rule by rule, with every character visible", () => {
    expect(runWith("explain", "good.json", "call.json", "--workspace", "/ws")).toEqual({
      code: 0,
      out: `read {"path":"pkg/.env"}
  deny  deny read(path ~ "**/.env")
        deny read(path ~ "**/.env") matches read
  rules on read
    deny read(path ~ "**/.env"): matches
    1 of 2 rules name another tool

`,
      err: ""
    })
    expect(runWith("explain", "good.json", "calls.json")).toEqual({
      code: 1,
      out: `bash {"command":"git log; ls⟨U+202E⟩"}
  ask   default: ask
        no rule matches ls⟨U+202E⟩
  expected allow
    allow git log: allow bash(command ~ "git *")
    ask   ls⟨U+202E⟩: default: ask
  rules on git log
    allow bash(command ~ "git *"): matches
    1 of 2 rules name another tool
  rules on ls⟨U+202E⟩
    allow bash(command ~ "git *"): does not match (command ~ "git *")
    1 of 2 rules name another tool

list {}
  ask   default: ask
        no rule matches list
  rules on list
    2 of 2 rules name another tool

`,
      err: ""
    })
  })

  it("[P8] writes one JSON object for each call for programs", () => {
    const { code, out } = runWith("explain", "--json", "good.json", "calls-as-expected.json")
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        tool: "bash",
        arguments: { command: "git log" },
        behavior: "allow",
        rule: 'allow bash(command ~ "git *")',
        reason: 'allow bash(command ~ "git *") matches git log',
        findings: [
          {
            about: "git log",
            behavior: "allow",
            rule: 'allow bash(command ~ "git *")',
            reason: 'allow bash(command ~ "git *") matches git log'
          }
        ],
        expect: "allow",
        asExpected: true
      }
    ])
    expect(JSON.parse(runWith("check", "--json", "bad.json").out)).toMatchObject({
      ok: false,
      problems: [{ line: 2, pointer: "/rules/0/behavior" }]
    })
  })

  it("[P7] ends with 2 where it was misused", () => {
    expect(runWith("--help")).toEqual({ code: 0, out: usage, err: "" })
    expect(runWith()).toEqual({ code: 2, out: "", err: usage })
    expect(runWith("check", "nowhere.json")).toEqual({
      code: 2,
      out: "",
      err: "nowhere.json: cannot be read: no such file\n"
    })
    expect(runWith("explain", "good.json", "no-call.json")).toEqual({
      code: 2,
      out: "",
      err: 'no-call.json:1:3: expected "tool" with the id of a tool\n'
    })
    expect(runWith("check", "good.json", "--wrong").code).toBe(2)
  })
})
