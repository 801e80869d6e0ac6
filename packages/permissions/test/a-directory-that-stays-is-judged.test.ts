import {
  type Json,
  type PermissionGate as Contract,
  type StateKey,
  StateUnreadable
} from "@toolwright/runtime-contract"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FileSystemView, PermissionGate, type RuleSet } from "../src/index.js"
import { analyse } from "../src/ShellCommand.js"
import { deniedFile, moves } from "./authority/moves.js"
import { compile, gateCall, rule } from "./support.js"

const rules = [
  "allow bash",
  `deny read(path ~ "${deniedFile}")`,
  `deny write(path ~ "${deniedFile}")`,
  'allow write(path ~ "**")'
]
const policy = compile({ rules })
const files = FileSystemView.memory({ paths: ["/ws"] })

const gateWith = (more: Partial<PermissionGate.Options> = {}, extra: ReadonlyArray<RuleSet.Rule> = []) =>
  PermissionGate.fromPolicy(
    { rules: [...rules.map(rule), ...extra] },
    { workspace: "/ws", files, shell: analyse, ...more }
  )

/** The thread's state, as far as these tests know it. */
const stateOf = (values: Readonly<Record<string, Json.Json>>): Contract.GateCall["state"] => ({
  // The value of a key is whatever the test put there.
  get: ((key: StateKey.StateKey) => values[key.name]) as Contract.GateCall["state"]["get"]
})

const outcomeOf = async (
  command: string,
  { gate = gateWith(), ...more }: Partial<Contract.GateCall> & { readonly gate?: PermissionGate.PolicyGate } = {}
): Promise<string> =>
  (await (gate.decide(gateCall("bash", { command }, more)) as Promise<{ readonly _tag: string }>))._tag

const earlier = (
  command: string,
  standing: Contract.EarlierCall["standing"] = "AboutToRun",
  toolId = "bash"
): Contract.EarlierCall => ({
  operationId: "run-1/1/0",
  toolId,
  arguments: gateCall(toolId, { command }).arguments,
  standing
})

describe("where a command stands is part of what it names", () => {
  it("[P5] a denied file is found however its path is split between directories and words", () => {
    fc.assert(
      fc.property(moves(), (command) => {
        expect(policy.decide({ toolId: "bash", arguments: { command } }).behavior).not.toBe("allow")
      }),
      { numRuns: 2_000 }
    )
  })

  it("[P5] a plain line in another directory stays allowed", () => {
    for (const command of [
      "cd src && cat main",
      "cd vault && ls -l",
      "cd a/b; cat keys/other",
      "cat keys/main",
      "cat main"
    ])
      expect([command, policy.decide({ toolId: "bash", arguments: { command } }).behavior]).toEqual([command, "allow"])
  })

  it("[P3] [P5] the directory that bash keeps in the thread's state is where its next line starts, without any wiring", async () => {
    expect(await outcomeOf("cat keys/main")).toBe("Allow")
    expect(await outcomeOf("cat keys/main", { state: stateOf({ shell_directory: "vault" }) })).toBe(
      "RequireConfirmation"
    )
    expect(await outcomeOf("cat keys/main", { state: stateOf({ shell_directory: "/ws/vault" }) })).toBe(
      "RequireConfirmation"
    )
    expect(await outcomeOf("echo x > main", { state: stateOf({ shell_directory: "vault/keys" }) })).toBe("Block")
    expect(await outcomeOf("cat keys/main", { state: stateOf({ shell_directory: "." }) })).toBe("Allow")
    const unreadable = {
      get: (key: StateKey.StateKey): never => {
        throw new StateUnreadable(key, { cause: "no text" })
      }
    }
    expect(() => gateWith().decide(gateCall("bash", { command: "ls" }, { state: unreadable }))).toThrow(StateUnreadable)
  })

  it("[P3] `directory` says so for any tool, before what the state says; a profile names the state of another tool", async () => {
    const told = gateWith({ directory: ({ tool }) => (tool.id === "bash" ? "/ws/vault" : undefined) })
    expect(await outcomeOf("cat keys/main", { gate: told })).toBe("RequireConfirmation")
    expect(await outcomeOf("cat keys/main", { gate: told, state: stateOf({ shell_directory: "src" }) })).toBe(
      "RequireConfirmation"
    )
    const edits = gateWith({ directory: () => "/ws/vault" })
    expect(await edits.decide(gateCall("write", { path: "keys/main" }))).toMatchObject({ _tag: "Block" })
    const named = PermissionGate.fromPolicy(
      {
        rules: rules.map((text) => rule(text.replace("allow bash", "allow run"))),
        tools: { run: { effect: "execute", fields: { line: "command" }, directory: "where" } }
      },
      { workspace: "/ws", files, shell: analyse }
    )
    const run = (state: Contract.GateCall["state"]) =>
      named.decide(gateCall("run", { line: "cat keys/main" }, { state }))
    expect(await run(stateOf({}))).toMatchObject({ _tag: "Allow" })
    expect(await run(stateOf({ where: "vault" }))).toMatchObject({ _tag: "RequireConfirmation" })
  })

  it("[P3] [P5] earlier lines of the same turn may have led elsewhere by then: wherever they lead counts, unless they are refused", async () => {
    const after = (...before: ReadonlyArray<Contract.EarlierCall>) => outcomeOf("cat keys/main", { earlier: before })
    expect(await after(earlier("cd vault"))).toBe("RequireConfirmation")
    expect(await after(earlier("cd vault", "Waiting"))).toBe("RequireConfirmation")
    expect(await after(earlier("cd va*"), earlier("ls"))).toBe("RequireConfirmation")
    expect(await after(earlier("cd vault", "Refused"))).toBe("Allow")
    expect(await after(earlier("cd vault", "AboutToRun", "shell"))).toBe("Allow")
    expect(await after(earlier("ls -l"), earlier("cd src && ls"))).toBe("Allow")
  })
})
