import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { profiles } from "../src/ProviderProfile.js"
import { exposedCallId, exposedName, plainCallIds, plainNames, shortCallIds } from "../src/ToolNames.js"
import { projectTools } from "../src/ToolProjection.js"
import { describeTool, emptyArguments } from "./support/descriptors.js"

/** A name that was made: what is readable of the id, and a hash of all of it. */
const hashed = (readable: string): unknown => expect.stringMatching(new RegExp(`^${readable}_[0-9a-f]{10}$`))

const tools = (...ids: ReadonlyArray<string>) => ids.map((id) => describeTool(id, emptyArguments))
const project = (...ids: ReadonlyArray<string>) => projectTools(tools(...ids), { profile: profiles.openai })

describe("names that a provider is shown", () => {
  it("[T7] stay apart when they look alike, whatever the order, and each leads back to its tool (C031)", () => {
    const one = project("find-a", "find_a", "find.a")
    const other = project("find.a", "find_a", "find-a")
    const names = one.tools.map((tool) => tool.name)
    expect(names).toEqual(["find-a", "find_a", hashed("find_a")])
    expect(names.map(one.toolIdOf)).toEqual(["find-a", "find_a", "find.a"])
    expect(other.tools.map((tool) => tool.name)).toEqual([names[2], names[1], names[0]])
    expect(one.notes).toEqual([{ toolId: "find.a", pointer: "", note: `shown as ${names[2]}` }])
  })

  it("[T7] are made of unusual ids, or the tool is refused by name, and no other is lost (C034)", () => {
    const long = "a".repeat(129)
    const projected = project(
      "disk.read",
      "user/update",
      "Scan File",
      "ls\n",
      "re\u0430d",
      "",
      long,
      "plain",
      " \u0007"
    )
    expect(Object.fromEntries(projected.tools.map((tool) => [projected.toolIdOf(tool.name), tool.name]))).toEqual({
      "disk.read": hashed("disk_read"),
      "user/update": hashed("user_update"),
      "Scan File": hashed("Scan_File"),
      "ls\n": hashed("ls_"),
      "re\u0430d": hashed("re_d"),
      [long]: hashed("a{53}"),
      plain: "plain"
    })
    expect(projected.refused).toEqual([
      { toolId: "", pointer: "", reason: "no name can be made of this id" },
      { toolId: " \u0007", pointer: "", reason: "no name can be made of this id" }
    ])
  })

  it("[T12] of two tools with one id are refused both, and a changed name never takes another tool's place (C032)", () => {
    const taken = exposedName("a.b", plainNames) ?? ""
    const projected = project("run", "run", "a.b", taken)
    expect(projected.tools.map((tool) => tool.name)).toEqual([taken])
    expect(projected.toolIdOf(taken)).toBe(taken)
    expect(projected.refused.map(({ toolId, reason }) => [toolId, reason])).toEqual([
      ["run", "the same id stands for more than one tool"],
      ["run", "the same id stands for more than one tool"],
      ["a.b", `the name ${taken} is taken by another tool`]
    ])
  })

  it("[T12] that no tool has lead to themselves, inherited ones too (C035)", () => {
    const projected = project("weather")
    const inherited = ["constructor", "__proto__", "toString", "weather"]
    expect(inherited.map(projected.toolIdOf)).toEqual(inherited)
  })

  it("[T7] begin with a letter for Google, and leave the name that a package keeps for itself", () => {
    expect([exposedName("7zip", profiles.google.names), exposedName("json", profiles.anthropic.names)]).toEqual([
      hashed("_7zip"),
      hashed("json")
    ])
  })

  it("[T7] fit the rule and are told apart, for any ids", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 90 }), { maxLength: 20 }), (ids) => {
        for (const profile of Object.values(profiles)) {
          const names = ids.map((id) => exposedName(id, profile.names)).filter((name) => name !== undefined)
          for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
          expect(new Set(names).size).toBe(names.length)
        }
      })
    )
  })
})

describe("ids of calls", () => {
  it("[T4] are kept where they fit and otherwise made the same way each time", () => {
    expect([
      exposedCallId("call_1", plainCallIds),
      exposedCallId("functions.get:0", plainCallIds),
      exposedCallId("call_1", shortCallIds),
      exposedCallId("abcdef123", shortCallIds)
    ]).toEqual([
      "call_1",
      expect.stringMatching(/^call_[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{9}$/),
      "abcdef123"
    ])
    expect(exposedCallId("functions.get:0", plainCallIds)).toBe(exposedCallId("functions.get:0", plainCallIds))
  })
})
