import { SchemaLedger } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { madeUp } from "./madeUpLedger.js"
import { built, start } from "./program.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

/** The rows of the made-up component, and the version that the file has. */
const notes = () => {
  const connection = world.connect()
  const rows = connection.prepare("SELECT * FROM note_row ORDER BY key").all()
  const version = connection.prepare("SELECT version FROM toolwright_schema WHERE component = 'note'").get()
  connection.close()
  return [version?.["version"], ...rows.map((row) => Object.values(row).slice(1))]
}

const migrated = (newest: number): number => {
  const connection = world.connect()
  try {
    return SchemaLedger.migrate(connection, madeUp(newest))
  } finally {
    connection.close()
  }
}

const refusalOf = (attempt: () => unknown): unknown => {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof SchemaLedger.SchemaRefused) return [error.reason, error.position, error.message]
    throw error
  }
}

describe("a database of an older version", () => {
  it("[R11] is brought to the newest, through every version between", () => {
    expect([migrated(1), migrated(3), migrated(3), notes()]).toEqual([
      0,
      1,
      3,
      [3, ["ONE", 3], ["TWO", 3], ["THREE", 5]]
    ])
  })

  it("[R11] is of the old version, whole, when the process dies in the middle of the migration", async () => {
    migrated(1)
    const program = await built("migrating")
    const killed = await start(program, {
      args: [world.path, "wait"],
      onLine: (line, child) => void (line === "in the middle" && child.kill("SIGKILL"))
    }).ended
    expect([killed.signal, killed.lines, notes()]).toEqual([
      "SIGKILL",
      ["in the middle"],
      [1, ["one"], ["two"], ["three"]]
    ])
    const again = await start(program, { args: [world.path] }).ended
    expect([again.lines, notes()]).toEqual([["came from 1"], [3, ["ONE", 3], ["TWO", 3], ["THREE", 5]]])
  })

  it("[R11] is of the old version, whole, when a step fails", () => {
    migrated(2)
    const connection = world.connect()
    const failing = madeUp(3, () => {
      throw new Error("no more")
    })
    expect(() => SchemaLedger.migrate(connection, failing)).toThrow("no more")
    connection.close()
    expect(notes()).toEqual([2, ["one", null], ["two", null], ["three", null]])
  })
})

describe("a database that this code must not touch", () => {
  it("[R11] is refused when it is newer", () => {
    migrated(3)
    expect([refusalOf(() => migrated(2)), notes()]).toEqual([
      ["Newer", "schema note", "schema note: expected at most 2, found version 3"],
      [3, ["ONE", 3], ["TWO", 3], ["THREE", 5]]
    ])
  })

  it("[R11] is refused when its tables are not those of its version", () => {
    migrated(1)
    const connection = world.connect()
    connection.exec("ALTER TABLE note_row ADD COLUMN color TEXT")
    connection.close()
    expect(refusalOf(() => migrated(3))).toEqual([
      "Altered",
      "schema note",
      "schema note: expected those of version 1, found other tables or indices"
    ])
  })

  it("[R11] is refused when it has tables of the component and no version", () => {
    const connection = world.connect()
    connection.exec("CREATE TABLE note_row (key INTEGER)")
    connection.close()
    expect(refusalOf(() => migrated(3))).toEqual([
      "Altered",
      "schema note",
      "schema note: expected a version, found note_row without a version"
    ])
  })
})

describe("a store that is made for the first time", () => {
  it("[R11] can be opened after its process died at any statement of the making", async () => {
    const program = await built("opening-dies")
    const whole = await start(program, { args: [world.path] }).ended
    const statements = Number(whole.lines.at(-1))
    expect(statements).toBeGreaterThan(8)
    await Promise.all(
      Array.from({ length: statements }, async (_, index) => {
        const one = scratch()
        const { signal } = await start(program, { args: [one.path, String(index + 1)] }).ended
        const store = await one.open()
        expect([signal, await Effect.runPromise(store.list({}))]).toEqual(["SIGKILL", []])
        await one.remove()
      })
    )
  }, 60_000)

  it("[R11] is made once by processes that open it at the same time", async () => {
    const program = await built("opening")
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => start(program, { args: [world.path] }).ended))
    expect(outcomes.map(({ lines }) => lines)).toEqual(Array.from({ length: 6 }, () => ["opened"]))
    const store = await world.open()
    expect(await Effect.runPromise(store.list({}))).toEqual([])
  })
})
