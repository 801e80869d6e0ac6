import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { SqliteDriver } from "../src/index.js"

const error = (fields: object): Error => Object.assign(new Error("failed"), fields)

/** What `better-sqlite3` and what `node:sqlite` throws for the same result of SQLite. */
const failures: ReadonlyArray<readonly [kind: string, name: string, code: number]> = [
  ["Busy", "SQLITE_BUSY", 5],
  ["Busy", "SQLITE_BUSY_RECOVERY", 5 | (1 << 8)],
  ["Busy", "SQLITE_LOCKED", 6],
  ["ReadOnly", "SQLITE_READONLY_DBMOVED", 8 | (4 << 8)],
  ["Io", "SQLITE_IOERR_FSYNC", 10 | (4 << 8)],
  ["Damaged", "SQLITE_CORRUPT", 11],
  ["Full", "SQLITE_FULL", 13],
  ["CannotOpen", "SQLITE_CANTOPEN", 14],
  ["Constraint", "SQLITE_CONSTRAINT_UNIQUE", 19 | (8 << 8)],
  ["Damaged", "SQLITE_NOTADB", 26],
  ["Other", "SQLITE_TOOBIG", 18]
]

describe("a failure of SQLite", () => {
  it.each(failures)("[E2] is %s from either driver, for %s", (kind, name, code) => {
    expect([
      SqliteDriver.failureOf(error({ code: name })),
      SqliteDriver.failureOf(error({ code: "ERR_SQLITE_ERROR", errcode: code }))
    ]).toEqual([kind, kind])
  })

  it("[E2] is told from any other error", () => {
    const others = [new Error("other"), error({ code: "ENOENT" }), "SQLITE_BUSY", undefined]
    expect(others.map(SqliteDriver.failureOf)).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe("the installed driver", () => {
  it("[E2] is node:sqlite where this Node has it, else better-sqlite3, else an error that says what to install", () => {
    const isThere = (from: string | undefined): boolean => {
      try {
        return from !== undefined && createRequire(from).resolve("better-sqlite3") !== ""
      } catch {
        return false
      }
    }
    const found = (() => {
      try {
        return SqliteDriver.installed().name
      } catch (thrown) {
        return thrown instanceof SqliteDriver.NoSqliteDriver ? thrown.message : thrown
      }
    })()
    const other = [import.meta.url, process.argv[1]].some(isThere)
      ? "better-sqlite3"
      : `no SQLite for Node ${process.version}: use Node 22.13 or newer, install better-sqlite3, or pass a driver`
    expect(found).toBe(process.getBuiltinModule("node:sqlite") === undefined ? other : "node:sqlite")
  })

  it("[E2] is refused when what it opens has no statements", () => {
    const driver = SqliteDriver.betterSqlite3(
      class {
        exec(): void {}
        prepare(): unknown {
          return {}
        }
        close(): void {}
      }
    )
    expect(() => driver.open("any").prepare("SELECT 1")).toThrow("the driver's statement has no run, get and all")
  })
})
