import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FileSystemView, type Policy } from "../src/index.js"
import { compile } from "./support.js"

const modes: ReadonlyArray<Policy.Mode> = ["default", "acceptEdits", "plan", "bypass"]

const files = FileSystemView.memory({ paths: ["/ws", "/ws/src", "/out"], links: { "/ws/link": "/out" } })

const rules = [
  'deny write(path ~ "locked/**")',
  'ask write(path ~ "asked/**")',
  "allow read",
  'deny bash(command ~ "rm *")'
]

const calls = [
  ["read", { path: "a" }],
  ["write", { path: "a" }],
  ["write", { path: "asked/a" }],
  ["write", { path: "locked/a" }],
  ["write", { path: "../a" }],
  ["write", { path: "link/a" }],
  ["write", { path: ".git/hooks/pre-commit" }],
  ["move", { source: "a", destination: "/out/a" }],
  ["bash", { command: "ls" }],
  ["bash", { command: "rm a" }],
  ["bash", { command: "$X" }],
  ["bash", { command: "ls > a" }],
  ["web_fetch", { url: "https://a.test/" }],
  ["mcp_thing", {}]
] as const

const judged = (mode: Policy.Mode, fallback?: "allow" | "ask" | "deny") => {
  const policy = compile({ rules, mode, files, ...(fallback === undefined ? {} : { default: fallback }) })
  return calls.map(([toolId, args]) => policy.decide({ toolId, arguments: args }).behavior)
}

describe("modes", () => {
  it("[P6] default asks what no rule names", () => {
    expect(judged("default")).toEqual("allow ask ask deny ask ask ask ask ask deny ask ask ask ask".split(" "))
  })

  it("[P6] acceptEdits allows file edits inside of the workspace, and nothing that a rule asks about or that others run", () => {
    expect(judged("acceptEdits")).toEqual("allow allow ask deny ask ask ask ask ask deny ask ask ask ask".split(" "))
  })

  it("[P6] plan lets nothing write", () => {
    expect(judged("plan")).toEqual("allow deny deny deny deny deny deny deny deny deny deny deny ask deny".split(" "))
  })

  it("[P6] bypass runs what is not denied, and asks where it cannot tell", () => {
    expect(judged("bypass")).toEqual(
      "allow allow allow deny allow allow allow allow allow deny ask allow allow allow".split(" ")
    )
  })

  it("[P6] a mode changes what is asked and never what is denied, by a rule or by default", () => {
    fc.assert(
      fc.property(fc.constantFrom(...modes), fc.constantFrom("allow", "ask", "deny"), (mode, fallback) => {
        const denied = judged("default", fallback).map((behavior) => behavior === "deny")
        const kept = judged(mode, fallback).filter((_, index) => denied[index] === true)
        expect(kept).toEqual(kept.map(() => "deny"))
      })
    )
  })

  it("[P6] what decided is said", () => {
    const said = (mode: Policy.Mode, index: number) => {
      const [toolId, args] = calls[index] ?? calls[0]
      return compile({ rules, mode, files }).decide({ toolId, arguments: args }).rule
    }
    expect([said("acceptEdits", 1), said("plan", 1), said("bypass", 1), said("plan", 3)]).toEqual([
      "mode: acceptEdits",
      "mode: plan",
      "mode: bypass",
      'deny write(path ~ "locked/**")'
    ])
  })
})
