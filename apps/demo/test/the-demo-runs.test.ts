import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { start, weatherServer } from "./world.js"

let notes = ""
beforeEach(() => {
  notes = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
})
afterEach(() => rmSync(notes, { recursive: true, force: true }))

const request = "weather in Lisbon and Oslo, then what is 17% of 2380"

describe("one turn, piped", () => {
  it("says how to ask where nothing was asked and nobody can", async () => {
    const { code, out } = await start(["--offline"]).finished
    expect([code, out]).toEqual([
      0,
      '  Nothing was asked. Say it behind "--", pipe in one request for each line, or start in a terminal; --help.\n'
    ])
  })

  it("shows request, gate, execution and committed result, and ends with the answer", async () => {
    const { code, out, err } = await start(["--offline", request]).finished
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out.split("\n").map((line) => line.slice(0, 50).trimEnd())).toEqual([
      `› ${request}`.slice(0, 50).trimEnd(),
      "",
      "  1    model    Let me look at the weather.",
      "  1.1  request  get_weather  city: Lisbon",
      "  1.2  request  get_weather  city: Oslo",
      "  1.1  gate     allow get_weather",
      "  1.2  gate     allow get_weather",
      "  1.1  run      get_weather",
      "  1.2  run      get_weather",
      '  1.1  result   ok  {"city":"Lisbon","country":"Po',
      '  1.2  result   ok  {"city":"Oslo","country":"Norw',
      "  1    commit   results published",
      "  2    model    Next I calculate.",
      "  2.1  request  calculate  expression: 17% of 2380",
      "  2.1  gate     allow calculate",
      "  2.1  run      calculate",
      '  2.1  result   ok  {"result":"404.6","rounded":fa',
      "  2    commit   results published",
      "",
      "  Lisbon: 16 °C, partly cloudy, wind 13 km/h, humi",
      "  Oslo: 10 °C, clear, wind 15 km/h, humidity 40 %",
      "  17% of 2380 is 404.6.",
      ""
    ])
    expect(out).toContain("recorded observation: Cascais, 2026-03-20 15:00 UTC")
  })

  it("[P2] is unattended: what needs approval is blocked, and the run goes on", async () => {
    const { code, out } = await start(["--offline", "--notes", notes, "note: buy milk"]).finished
    expect(code).toBe(0)
    expect(out).toContain("needs approval; nobody can give it")
    expect(readdirSync(notes)).toEqual([])
  })

  it("takes one request from each line", async () => {
    const { code, out } = await start(["--offline"], { input: "1 + 1\n\nweather in Oslo\n" }).finished
    expect(code).toBe(0)
    expect(out).toContain("1 + 1 is 2.")
    expect(out).toContain("Oslo: 10 °C")
  })

  it("prints the committed transcript as JSON, and nothing else, on standard output", async () => {
    const { code, out } = await start(["--offline", "--json", "1 + 1"]).finished
    expect(code).toBe(0)
    const transcript = JSON.parse(out) as { disposition: unknown; messages: ReadonlyArray<{ role: string }> }
    expect(transcript.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(transcript.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant"])
  })

  it("has no colours in a pipe", async () => {
    expect((await start(["--offline", "1 + 1"]).finished).out).not.toContain("\u001b")
  })

  it("explains itself, and names an option that does not exist", async () => {
    expect((await start(["--help"]).finished).out).toContain("npm start -- ")
    const wrong = await start(["--offlin"]).finished
    expect(wrong.code).toBe(2)
    expect(wrong.err).toContain("toolwright demo: unknown option --offlin; known are --help, --json, --offline")
  })

  it("[L3] Ctrl-C cancels a call that hangs, cleanly", async () => {
    const server = await weatherServer({})
    try {
      const running = start(["weather in Lisbon"], { environment: { OPEN_METEO_URL: server.url } })
      await running.shown("run      get_weather")
      running.interrupt()
      const { code, out, err } = await running.finished
      expect({ code, err }).toEqual({ code: 130, err: "" })
      expect(out).toContain("The run ended: it was cancelled.")
    } finally {
      server.close()
    }
  })
})

describe("a talk at a terminal", () => {
  it("[H4] asks before a note is written, and writes what was shown", async () => {
    const talk = start(["--offline", "--notes", notes], { terminal: true })
    await talk.shown("/quit")
    talk.type("note: buy milk\r")
    await talk.shown("Allow? [y]es, [n]o")
    expect(readdirSync(notes)).toEqual([])
    talk.type("y\r")
    await talk.shown("The note is saved in")
    talk.type("/quit\r")
    expect((await talk.finished).code).toBe(0)
    expect(readdirSync(notes).map((file) => readFileSync(join(notes, file), "utf8"))).toEqual(["buy milk\n"])
  })

  it("[H4] a no is told to the model, and nothing is written", async () => {
    const talk = start(["--offline", "--notes", notes], { terminal: true })
    await talk.shown("/quit")
    talk.type("note: buy milk\r")
    await talk.shown("Allow?")
    talk.type("n\r")
    await talk.shown("I have no note saved: save_note was denied: the person said no.")
    talk.type("/quit\r")
    expect((await talk.finished).code).toBe(0)
    expect(readdirSync(notes)).toEqual([])
  })

  it("Ctrl-C cancels the turn that waits, and without one ends the demo with 130", async () => {
    const talk = start(["--offline", "--notes", notes], { terminal: true })
    await talk.shown("/quit")
    talk.type("note: buy milk\r")
    await talk.shown("Allow?")
    talk.type("\u0003")
    await talk.shown("The run ended: it was cancelled.")
    talk.type("1 + 1\r")
    await talk.shown("1 + 1 is 2.")
    talk.type("\u0003")
    expect((await talk.finished).code).toBe(130)
    expect(readdirSync(notes)).toEqual([])
  })

  it("respects NO_COLOR", async () => {
    const talk = start(["--offline", "1 + 1"], { terminal: true, environment: { NO_COLOR: "1" } })
    expect((await talk.finished).out).not.toContain("\u001b[3")
  })
})
