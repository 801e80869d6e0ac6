import { readdirSync, readFileSync } from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { OptionDomain, type RawTool, RawToolRegistry, Tool, ToolDescriptor } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { describe, expect, it } from "vitest"
import { erase } from "../src/index.js"

class Client extends Context.Service<Client, { readonly call: () => string }>()("test/Client") {}

const paramDomains = { agent: OptionDomain.AgentIds }
const invocationTriggers = (): ReadonlyArray<string> => ["delegate"]

const definition = Tool.define({
  id: "delegate",
  description: "Hand work to another agent",
  args: Type.Object({ agent: Type.String() }),
  paramDomains,
  invocationTriggers
})
const tool = Tool.implement(definition, () => Effect.map(Client, (client) => client.call()))
const provided = Tool.provide(tool, Context.make(Client, { call: () => "done" }))

const lookedUp = (given: RawTool.RawTool): RawTool.RawTool => {
  const found = new RawToolRegistry([given]).lookup("delegate")
  if (found._tag !== "Found") throw new Error(found._tag)
  return found.tool
}

/** Everything in the packages that hands a tool on as a RawTool. */
const wrappers: ReadonlyArray<readonly [string, RawTool.RawTool]> = [
  ["erase", erase(provided)],
  ["RawToolRegistry", lookedUp(erase(provided))]
]

describe("every wrapper of a tool", () => {
  it.each(wrappers)("[T15] %s forwards the very spec, domains and triggers", (_name, wrapped) => {
    expect(wrapped.spec()).toBe(definition.spec)
    expect(wrapped.spec()).toBe(wrapped.spec())
    expect(wrapped.paramDomains).toBe(definition.paramDomains)
    expect(wrapped.paramDomains).toEqual(paramDomains)
    expect(wrapped.invocationTriggers).toBe(invocationTriggers)
  })

  it("[T15] implement and provide keep the definition's spec", () => {
    expect([tool.spec, provided.spec, tool.definition, provided.definition]).toEqual([
      definition.spec,
      definition.spec,
      definition,
      definition
    ])
    expect(provided.spec).toBe(definition.spec)
    expect(provided.definition).toBe(definition)
  })

  it("[T15] triggers are computed anew at each use", () => {
    const phrases = ["one"]
    const live = erase(
      Tool.make({ ...definition, state: [], output: undefined, invocationTriggers: () => [...phrases], call: () => "" })
    )
    expect(live.invocationTriggers?.()).toEqual(["one"])
    phrases.push("two")
    expect(live.invocationTriggers?.()).toEqual(["one", "two"])
  })

  it("[T14] the descriptor of a definition, of its tool and of its erased form is one", () => {
    const identities = [definition, provided, erase(provided)].map(
      (one) => ToolDescriptor.forTool(one, "custom:test").identity
    )
    expect(new Set(identities).size).toBe(1)
  })

  // Red because a new file makes RawTools? Add its wrapper to the table above, then its name here.
  it("[T15] no package has a wrapper that is not in this test", () => {
    const packages = new URL("../../", import.meta.url)
    const makers: Array<string> = []
    for (const name of readdirSync(packages)) {
      const src = new URL(`${name}/src/`, packages)
      for (const file of readdirSync(src, { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".ts")) continue
        const text = readFileSync(new URL(file, src), "utf8")
        if (
          /(?<!readonly )\bspec: \(\) =>|\bspec\(\): (?:RawTool\.)?ToolSpec|implements (?:RawTool\.)?RawTool\b(?!\.)/.test(
            text
          )
        )
          makers.push(`${name}/${file}`)
      }
    }
    // All but `erase` make tools of their own and wrap none.
    expect(makers.sort()).toEqual([
      "builtin-tools/erase.ts",
      "runtime/Delegation.ts",
      "testing/EffectRecorder.ts",
      "testing/internal/crashWorld.ts",
      "testing/internal/simulationScript.ts"
    ])
  })
})
