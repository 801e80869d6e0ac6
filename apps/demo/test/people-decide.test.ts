import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { start } from "./world.js"

vi.setConfig({ testTimeout: 30_000 })

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const notes = (): ReadonlyArray<string> => readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"))

const backspaces = (count: number): string => "\u007f".repeat(count)

describe("a person who is asked", () => {
  it("[H4] may change the arguments: they are checked, shown anew, and run as they were shown", async () => {
    const talk = start(["--offline", "--notes", folder, "note: buy milk"], { terminal: true })
    await talk.shown("Allow? [y]es, [n]o, [e]dit")
    talk.type("e\r")
    await talk.shown('Arguments as JSON › {"text":"buy milk"}')
    talk.type(`${backspaces(11)}1}\r`)
    await talk.shown("/text: expected a string, received 1")
    talk.type(`${backspaces(2)}"buy oat milk"}\r`)
    await talk.shown("would run with these arguments instead:")
    await talk.shown("Run this instead?")
    expect(notes()).toEqual([])
    talk.type("y\r")
    await talk.shown("Edited by you")
    expect((await talk.finished).code).toBe(0)
    expect(notes()).toEqual(["buy oat milk\n"])
  })

  it("[H7] may allow it from now on: the rule is shown in full first, holds in the next process, and is taken back", async () => {
    const words = ["--offline", "--notes", join(folder, "notes"), "--db", join(folder, "threads.db")]
    const talk = start([...words, "note: buy milk"], { terminal: true })
    await talk.shown("Allow?")
    talk.type("a\r")
    await talk.shown('save_note(= {"text":"buy milk"})')
    await talk.shown("Remember this rule?")
    talk.type("w\r")
    await talk.shown('Rule, such as save_note › save_note(= {"text":"buy milk"})')
    talk.type(`${backspaces(22)}text ~ "buy *")\r`)
    await talk.shown('save_note(text ~ "buy *")')
    await talk.shown(/Remember this rule\?[^]*Remember this rule\?[^›]*› /)
    expect(existsSync(join(folder, "notes"))).toBe(false)
    talk.type("y\r")
    await talk.shown("given from now on")
    expect((await talk.finished).code).toBe(0)

    const { out } = await start([...words, "note: buy bread"]).finished
    expect(out).toMatch(/gate {5}allow {2}remembered rule \w{8}/)
    expect(out).toContain("The note is saved in")

    const why = (await start([...words, "--explain", "note: buy tea"]).finished).out
    expect(why).toMatch(/allow: decided by grant grant-\w+ \(workspace .+\)/)
    expect(why).toMatch(/remembered in workspace .+: save_note\(text ~ "buy \*"\): it covers the call/)

    const next = start(words, { terminal: true })
    await next.shown("/quit")
    next.type("/rules\r")
    await next.shown(/\w{8} .*save_note\(text ~ "buy \*"\)/)
    const id = /(\w{8}) +save_note\(text/.exec(next.soFar())?.[1] ?? ""
    next.type(`/forget ${id}\r`)
    await next.shown("Forgotten:")
    next.type("note: buy eggs\r")
    await next.shown("Allow?")
    next.type("n\r")
    next.type("/quit\r")
    expect((await next.finished).code).toBe(0)
    expect(readdirSync(join(folder, "notes"))).toHaveLength(2)
  })

  it("[P8] sees on request which rule decided and what the others said", async () => {
    const talk = start(["--offline", "--notes", folder, "note: buy milk"], { terminal: true })
    await talk.shown("Allow?")
    talk.type("w\r")
    await talk.shown("ask: decided by ask save_note")
    await talk.shown('deny save_note(text ~ "*password*"): does not match')
    talk.type("n\r")
    await talk.finished
    expect(notes()).toEqual([])
  })

  it("[H8] sees characters that would hide what runs", async () => {
    const talk = start(["--offline", "--notes", folder, "note: pay \u202e0001 EUR"], { terminal: true })
    await talk.shown("pay ⟨U+202E⟩0001 EUR")
    talk.type("n\r")
    const { out } = await talk.finished
    expect(out).not.toContain("\u202e")
  })
})

describe("the policy file", () => {
  it("[P4] denies without asking anybody, and says why", async () => {
    const { out } = await start(["--offline", "--notes", folder, "note: my password is x"]).finished
    expect(out).toContain('block  deny save_note(text ~ "*password*")')
    expect(out).toContain("a note is no place for a password")
    expect(notes()).toEqual([])
  })

  it("[P8] is explained without running anything", async () => {
    const { code, out } = await start(["--notes", folder, "--explain", "note: my password is x"]).finished
    expect(code).toBe(0)
    expect(out).toBe(
      [
        '  save_note {"text":"my password is x"}',
        '  deny: decided by deny save_note(text ~ "*password*")',
        "  because a note is no place for a password",
        '  - deny save_note(text ~ "*password*"): matches',
        "  - ask save_note: matches",
        '  - deny *(path ~ ".git/**"): does not match (path ~ ".git/**")',
        '  - deny *(path ~ ".env"): does not match (path ~ ".env")',
        "  - 27 of 31 rules name another tool",
        ""
      ].join("\n")
    )
    const call = await start(["--explain", 'get_weather {"city": 1}']).finished
    expect(call.out).toContain("not run: the arguments do not fit, so no rule is asked")
    expect((await start(["--explain", 'rm {"path": "/"}']).finished).out).toContain("there is no such tool")
    expect(notes()).toEqual([])
  })

  it("[P1] [P7] that is wrong stops the demo with its place, before anything runs", async () => {
    const file = join(folder, "policy.json")
    writeFileSync(file, '{\n  "rules": [{ "pattern": "save_note", "behaviour": "allow" }]\n}\n')
    const { code, err, out } = await start(["--policy", file, "--offline", "1 + 1"]).finished
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(`${file}:2:39: /rules/0/behaviour: expected one of pattern, behavior`)
  })

  it("[P1] of one's own decides instead", async () => {
    const file = join(folder, "policy.json")
    writeFileSync(file, '{ "default": "deny", "rules": [{ "pattern": "current_time", "behavior": "allow" }] }')
    const { out } = await start(["--policy", file, "--offline", "1 + 1"]).finished
    expect(out).toContain("block  default: deny")
  })
})
