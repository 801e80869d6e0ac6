import { Type } from "typebox"
import { describe, expect, it } from "vitest"
import { OptionDomain, StateKey, Tool, ToolDefinitionError } from "../src/index.js"

const good = { id: "get_weather", description: "Weather", args: Type.Object({ city: Type.String() }) }
const counter = StateKey.make({ name: "counter", schema: Type.Integer() })

// Plain JavaScript may send anything.
const define = (options: object): unknown => Tool.define(Object.assign({}, good, options))

const refusalOf = (options: object): { reason: string; toolId: unknown; pointer: unknown; message: string } => {
  try {
    define(options)
  } catch (error) {
    if (error instanceof ToolDefinitionError)
      return { reason: error.reason, toolId: error.toolId, pointer: error.pointer, message: error.message }
    throw error
  }
  throw new Error("the definition was accepted")
}

describe("a definition that cannot work", () => {
  it.each<[string, object, { reason: string; pointer: string }]>([
    ["an empty id", { id: "" }, { reason: "BadId", pointer: "/id" }],
    ["an id with a blank", { id: "get weather" }, { reason: "BadId", pointer: "/id" }],
    ["an id with a line feed at its end", { id: "get_weather\n" }, { reason: "BadId", pointer: "/id" }],
    ["an id of 65 characters", { id: "a".repeat(65) }, { reason: "BadId", pointer: "/id" }],
    ["no id", { id: undefined }, { reason: "BadId", pointer: "/id" }],
    ["a blank description", { description: " \n" }, { reason: "BadDescription", pointer: "/description" }],
    [
      "a description with half a character",
      { description: "a\ud800" },
      { reason: "BadDescription", pointer: "/description" }
    ],
    ["a blank version", { version: "" }, { reason: "BadVersion", pointer: "/version" }],
    ["an unknown recovery", { recovery: "Sometimes" }, { reason: "BadRecovery", pointer: "/recovery" }],
    ["a mode for a capability", { recovery: "NeverReplay" }, { reason: "BadRecovery", pointer: "/recovery" }],
    ["an unknown kind", { kind: "Remote" }, { reason: "BadOption", pointer: "/kind" }],
    ["an unknown target", { target: "Moon" }, { reason: "BadOption", pointer: "/target" }],
    ["a concurrency that is no function", { concurrency: "Serial" }, { reason: "BadOption", pointer: "/concurrency" }],
    [
      "triggers that are no function",
      { invocationTriggers: ["weather"] },
      { reason: "BadOption", pointer: "/invocationTriggers" }
    ],
    ["an attribution that is none", { attribution: 5 }, { reason: "BadOption", pointer: "/attribution" }],
    [
      "a misspelt attribution",
      { attribution: { provenence: "Native" } },
      { reason: "BadOption", pointer: "/attribution/provenence" }
    ],
    [
      "an unknown provenance",
      { attribution: { provenance: "Ours" } },
      { reason: "BadOption", pointer: "/attribution/provenance" }
    ],
    ["args whose root is a string", { args: Type.String() }, { reason: "RootNotObject", pointer: "/args" }],
    [
      "args whose root is a union",
      { args: Type.Union([Type.Object({}), Type.Object({})]) },
      { reason: "RootUnion", pointer: "/args" }
    ],
    [
      "args that JSON Schema cannot say",
      { args: Type.Object({ n: Type.BigInt() }) },
      { reason: "UnsupportedType", pointer: "/args/properties/n/type" }
    ],
    [
      "an output that JSON Schema cannot say",
      { output: Type.Object({ at: Type.Undefined() }) },
      { reason: "UnsupportedType", pointer: "/output/properties/at/type" }
    ],
    ["a state key twice", { state: [counter, counter] }, { reason: "BadStateKeys", pointer: "/state/1" }],
    ["a state key that is none", { state: ["counter"] }, { reason: "BadStateKeys", pointer: "/state/0" }],
    [
      "a state key whose schema cannot be said",
      { state: [StateKey.make({ name: "s", schema: Type.BigInt() })] },
      { reason: "UnsupportedType", pointer: "/state/0/schema/type" }
    ],
    [
      "a domain for an argument that does not exist",
      { paramDomains: { town: OptionDomain.Custom("cities") } },
      { reason: "BadOption", pointer: "/paramDomains/town" }
    ],
    [
      "a domain for an inherited name",
      { paramDomains: { constructor: OptionDomain.Custom("cities") } },
      { reason: "BadOption", pointer: "/paramDomains/constructor" }
    ],
    [
      "a domain that is none",
      { paramDomains: { city: { _tag: "Cities" } } },
      { reason: "BadOption", pointer: "/paramDomains/city" }
    ]
  ])("[T7] %s is refused at its place", (_name, options, { reason, pointer }) => {
    const refusal = refusalOf(options)
    expect({ reason: refusal.reason, pointer: refusal.pointer }).toEqual({ reason, pointer })
  })

  it("[T7] the message names the tool, the place, what was expected and what came", () => {
    expect(refusalOf({ recovery: "Sometimes" }).message).toBe(
      'tool "get_weather" at /recovery: expected NonRecoverable, ReplaySafe, Idempotent or DurableRequest, received the string "Sometimes"'
    )
  })

  it("[T7] an option that does not exist is refused, with the one that was probably meant", () => {
    const { reason, pointer, message } = refusalOf({ recover: "ReplaySafe" })
    expect({ reason, pointer }).toEqual({ reason: "BadOption", pointer: "/recover" })
    expect(message).toMatch(/^tool "get_weather" at \/recover: expected one of the options id, description, args, /)
    expect(message).toMatch(/ received an unknown option \(did you mean recovery\)$/)
  })

  it("[T1] the call goes with the one-step form, and only there", () => {
    expect(refusalOf({ call: () => "sunny" }).message).toMatch(
      /\(Tool\.make takes a call, and so does Tool\.implement\)$/
    )
    expect(Tool.make({ ...good, call: () => "sunny" }).spec).toEqual(Tool.define(good).spec)
    // Another definition may be spread: what it derives is derived anew.
    expect(Tool.define({ ...Tool.define(good), id: "weather" }).spec.id).toBe("weather")
    expect((): unknown => Reflect.apply(Tool.implement, undefined, [Tool.define(good)])).toThrow(
      'tool "get_weather" at /call: expected a function, received nothing'
    )
  })

  it.each<[string, object, string]>([
    [
      "fields where the schema belongs",
      { city: "string" },
      "a schema is built with Type of @toolwright/runtime-contract/typebox: Type.Object({ name: Type.String() })"
    ],
    [
      "fields where a field's schema belongs",
      { type: "object", properties: { place: { city: Type.String() } } },
      "a field goes into Type.Object({ ... })"
    ],
    ["a misspelt keyword", { ...Type.Object({}), propertys: {} }, "did you mean properties"]
  ])("[T7] %s are refused with what to write", (_name, args, hint) => {
    expect(refusalOf({ args }).message.endsWith(`(${hint})`)).toBe(true)
  })

  it("[T16] a client-executed definition takes no call", () => {
    const pick = Tool.define({ ...good, kind: "ClientExecuted" })
    expect(() => Tool.implement(pick, () => "here")).toThrow(
      'tool "get_weather" at /call: expected no call: the result of a ClientExecuted tool comes from outside'
    )
  })

  it("[D1] a state key that cannot be used is refused where it is made", () => {
    expect(() => StateKey.make({ name: " ", schema: Type.String() })).toThrow(ToolDefinitionError)
    expect(() => StateKey.make({ name: "a", merge: "Commutative", schema: Type.Array(Type.String()) })).toThrow(
      ToolDefinitionError
    )
  })
})

describe("a definition that works", () => {
  it("[T1] is frozen, has one spec, and leaves the author's schema alone", () => {
    const before = JSON.stringify(good.args)
    const definition = Tool.define(good)
    expect(definition.args).toBe(good.args)
    expect(JSON.stringify(good.args)).toBe(before)
    expect(Object.isFrozen(definition)).toBe(true)
    expect(definition.spec).toEqual({
      id: "get_weather",
      description: "Weather",
      inputSchema: {
        type: "object",
        required: ["city"],
        properties: { city: { type: "string" } },
        additionalProperties: false
      },
      kind: "Regular",
      target: "Brain",
      warnings: []
    })
    expect(Object.isFrozen(definition.spec.inputSchema)).toBe(true)
  })

  it("[Z3] is an extension under its own name until it says otherwise", () => {
    expect(Tool.define(good).attribution).toEqual({ role: "tool", alias: "get_weather", provenance: "Extension" })
    expect(Tool.define({ ...good, attribution: { provenance: "Native", alias: "weather" } }).attribution).toEqual({
      role: "tool",
      alias: "weather",
      provenance: "Native"
    })
  })

  it("[T1] make is define and implement in one step", () => {
    const call = ({ city }: { readonly city: string }): string => city
    const tool = Tool.make({ ...good, recovery: "ReplaySafe", call })
    expect({ ...tool, definition: tool.definition.id }).toEqual({
      definition: "get_weather",
      spec: Tool.define(good).spec,
      recovery: "ReplaySafe",
      call
    })
  })

  it("[T8] hands itself over as a Standard Schema of its arguments", () => {
    const standard = Tool.define(good)["~standard"]
    expect(standard.validate({ city: "Lisbon" })).toEqual({ value: { city: "Lisbon" } })
    expect(standard.validate({ city: 1 })).toEqual({
      issues: [{ message: 'expected a string, received 1; send "1" in quotes', path: ["city"] }]
    })
  })
})
