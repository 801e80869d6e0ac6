import { OptionDomain } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf, text } from "./support/world.js"

const principal = "ada"

describe("tools are described", () => {
  it("[Z4] every registered tool is listed with schemas, provenance and what stands in its way", async () => {
    const twice = rawTool({ id: "twice" })
    const boxed = rawTool({ id: "boxed", target: "Sandbox" })
    const plain = rawTool({ id: "plain", more: { invocationTriggers: () => ["plainly"] } })
    const { runtime } = makeWorld({ script: [], tools: () => [plain, twice, twice, boxed] })
    const described = await runtime.describeTools()
    expect(described.map(({ id, executable, problem }) => [id, executable, problem])).toEqual([
      ["plain", true, undefined],
      ["twice", false, "tool twice is registered more than once"],
      ["boxed", false, "tool boxed runs in a sandbox, and there is none here"]
    ])
    expect(described[0]).toMatchObject({
      spec: plain.spec(),
      attribution: { role: "tool", provenance: "Extension" },
      recovery: "NonRecoverable",
      triggers: ["plainly"]
    })
    expect(described[0]?.spec).toBe(plain.spec())
  })

  it("[Z1] domains are resolved live, given what is chosen, and one that fails harms no other", async () => {
    let cities = ["Oslo"]
    const tool = rawTool({
      id: "travel",
      more: {
        paramDomains: {
          tool: OptionDomain.ToolNames,
          thread: OptionDomain.ThreadIds,
          city: OptionDomain.Custom("city"),
          broken: OptionDomain.Custom("broken"),
          none: OptionDomain.Custom("nobody"),
          agent: OptionDomain.AgentIds
        }
      }
    })
    const world = makeWorld({
      script: ["Done."],
      tools: () => [tool],
      domains: {
        city: (chosen) =>
          Promise.resolve(cities.map((value) => ({ value, label: `${value} by ${JSON.stringify(chosen["by"])}` }))),
        broken: () => {
          throw new Error("no map")
        },
        AgentIds: () => [{ value: "agent" }]
      }
    })
    await world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, threadId: "t" })
    const options = { chosen: { travel: { by: "train" } } }
    const [first] = await world.runtime.describeTools(options)
    cities = ["Oslo", "Lisbon"]
    const [second] = await world.runtime.describeTools(options)
    expect(first?.domains["city"]?.options).toEqual([{ value: "Oslo", label: 'Oslo by "train"' }])
    expect(second?.domains["city"]?.options.length).toBe(2)
    expect(second?.domains["tool"]?.options).toEqual([{ value: "travel" }])
    expect(second?.domains["thread"]?.options).toEqual([{ value: "t" }])
    expect(second?.domains["agent"]?.options).toEqual([{ value: "agent" }])
    expect([second?.domains["broken"]?.problem, second?.domains["none"]?.problem]).toEqual([
      "no map",
      "no resolver for the domain nobody"
    ])
  })

  it("[N2] under a snapshot, a tool that does not fit is told so", async () => {
    const old = rawTool({ id: "note" })
    const { runtime } = makeWorld({ script: [], tools: () => [rawTool({ id: "note", version: "2" })] })
    const [described] = await runtime.describeTools({ snapshot: snapshotOf([old]) })
    expect(described).toMatchObject({ executable: false, problem: expect.stringContaining("has changed") as string })
  })

  it("[Z2] one request-only hint for the longest match among visible and executable tools, off by default, never committed", async () => {
    const dev = rawTool({ id: "dev", more: { invocationTriggers: () => ["dev"] } }, text("x"))
    const deploy = rawTool({ id: "deploy", more: { invocationTriggers: () => ["Deploy my-dev", ""] } }, text("x"))
    const ghost = rawTool({ id: "ghost", more: { invocationTriggers: () => ["please deploy my-dev"] } })
    const broken = rawTool({
      id: "broken",
      more: {
        invocationTriggers: () => {
          throw new Error("no")
        }
      }
    })
    const hinted = (on: boolean) => snapshotOf([dev, deploy, ghost, broken], (builder) => builder.triggerHints(on))
    const world = makeWorld({
      script: [{ calls: [call("dev")] }, "Done.", "Done."],
      tools: () => [dev, deploy, broken]
    })
    const outcome = await world.runtime.run({ snapshot: hinted(true), input: "please DEPLOY my-dev now", principal })
    expect(world.llm.requests.map(({ notes }) => notes.map(({ content }) => JSON.stringify(content)))).toEqual([
      [expect.stringContaining("deploy may help")],
      []
    ])
    expect(JSON.stringify([...outcome.messages])).not.toContain("may help")
    expect(world.watched.commits.flatMap((commit) => commit.notes)).toEqual([
      { type: "TriggerHint", toolId: "deploy", trigger: "Deploy my-dev" }
    ])
    await world.runtime.run({ snapshot: hinted(false), input: "deploy my-dev", principal })
    expect(world.llm.requests.at(-1)?.notes).toEqual([])
  })

  it("[Z3] gates and audit records see who a tool is", async () => {
    const native = rawTool({
      id: "clock",
      more: { attribution: { role: "tool", alias: "the clock", provenance: "Native" } }
    })
    const seen: Array<unknown> = []
    const world = makeWorld({
      script: [{ calls: [call("clock")] }, "Done."],
      tools: () => [native],
      gate: { id: "look", decide: ({ attribution }) => (seen.push(attribution), { _tag: "Allow" }) }
    })
    await world.runtime.run({ snapshot: snapshotOf([native]), input: "hi", principal })
    expect(seen).toEqual([{ role: "tool", alias: "the clock", provenance: "Native" }])
  })
})
