/**
 * The few things that this package needs of a SQLite, and the two that people have: `node:sqlite` and `better-sqlite3`.
 *
 * Guarantees: both behave the same here; a failure of either is told by one closed kind. Which one is in use never
 * changes what is in the file.
 * Does not retry and does not hide what SQLite said: an error of the driver reaches the caller as it is.
 */
import { createRequire } from "node:module"

export type SqliteValue = null | number | bigint | string | Uint8Array

export interface SqliteRow {
  readonly [column: string]: SqliteValue
}

/** A prepared statement. Parameters are positional. */
export interface SqliteStatement {
  readonly run: (...values: ReadonlyArray<SqliteValue>) => {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  readonly get: (...values: ReadonlyArray<SqliteValue>) => SqliteRow | undefined
  readonly all: (...values: ReadonlyArray<SqliteValue>) => ReadonlyArray<SqliteRow>
}

/** One connection. Everything is synchronous: what waits is the caller, and only for the disk. */
export interface SqliteConnection {
  readonly exec: (sql: string) => void
  readonly prepare: (sql: string) => SqliteStatement
  readonly close: () => void
}

export interface SqliteDriver {
  readonly name: string
  /** Opens or creates the file. Throws what the driver throws. */
  readonly open: (path: string) => SqliteConnection
}

/** An open database of either driver, as far as it is used. */
export interface NativeDatabase {
  readonly exec: (sql: string) => unknown
  readonly prepare: (sql: string) => unknown
  readonly close: () => unknown
}

/** The class that `better-sqlite3` exports. */
export type BetterSqlite3 = new (path: string) => NativeDatabase

/** Neither SQLite is there. */
export class NoSqliteDriver extends Error {
  readonly _tag = "NoSqliteDriver"
  override readonly name = "NoSqliteDriver"
}

/** A driver over the class of an installed `better-sqlite3`, for programs that are bundled or want to choose. */
export const betterSqlite3 = (Database: BetterSqlite3): SqliteDriver => ({
  name: "better-sqlite3",
  open: (path) => connectionOf(new Database(path))
})

/** The driver over `node:sqlite`; `undefined` where this Node has none (before 22.13). */
export const nodeSqlite = (): SqliteDriver | undefined => {
  const builtin = process.getBuiltinModule("node:sqlite")
  if (!hasDatabaseSync(builtin)) return undefined
  const { DatabaseSync } = builtin
  return { name: "node:sqlite", open: (path) => connectionOf(new DatabaseSync(path)) }
}

/**
 * The driver that is there: `node:sqlite`, else `better-sqlite3` as this package or the started program resolves it.
 * The working directory is never searched: a folder that one happens to stand in must not bring native code along.
 * Throws `NoSqliteDriver`.
 */
export const installed = (): SqliteDriver => {
  const builtin = nodeSqlite()
  if (builtin !== undefined) return builtin
  const causes: Array<unknown> = []
  for (const from of [import.meta.url, process.argv[1]]) {
    if (from === undefined) continue
    try {
      const found: unknown = createRequire(from)("better-sqlite3")
      if (isConstructor(found)) return betterSqlite3(found)
    } catch (cause) {
      causes.push(cause)
    }
  }
  throw new NoSqliteDriver(
    `no SQLite for Node ${process.version}: use Node 22.13 or newer, install better-sqlite3, or pass a driver`,
    { cause: causes.at(-1) }
  )
}

/** What a failure of either driver means. Closed. */
export type SqliteFailure = "Busy" | "Full" | "ReadOnly" | "CannotOpen" | "Damaged" | "Constraint" | "Io" | "Other"

/** Primary result codes of SQLite (sqlite.org/rescode.html) by number and by name. */
const kinds: ReadonlyArray<readonly [code: number, name: string, kind: SqliteFailure]> = [
  [5, "SQLITE_BUSY", "Busy"],
  [6, "SQLITE_LOCKED", "Busy"],
  [8, "SQLITE_READONLY", "ReadOnly"],
  [10, "SQLITE_IOERR", "Io"],
  [11, "SQLITE_CORRUPT", "Damaged"],
  [13, "SQLITE_FULL", "Full"],
  [14, "SQLITE_CANTOPEN", "CannotOpen"],
  [19, "SQLITE_CONSTRAINT", "Constraint"],
  [26, "SQLITE_NOTADB", "Damaged"]
]

/** `undefined` for what is no failure of SQLite. `better-sqlite3` names its code, `node:sqlite` numbers it. */
export const failureOf = (error: unknown): SqliteFailure | undefined => {
  if (!(error instanceof Error)) return undefined
  if ("errcode" in error && typeof error.errcode === "number") {
    // The low byte is the primary code, the rest refines it.
    const primary = error.errcode & 0xff
    return kinds.find(([code]) => code === primary)?.[2] ?? "Other"
  }
  if (!("code" in error) || typeof error.code !== "string") return undefined
  const { code } = error
  if (!code.startsWith("SQLITE_")) return undefined
  return kinds.find(([, name]) => code === name || code.startsWith(`${name}_`))?.[2] ?? "Other"
}

/** A connection over a database that the program has opened itself. */
export const connectionOf = (database: NativeDatabase): SqliteConnection => ({
  exec: (sql) => void database.exec(sql),
  prepare: (sql) => {
    // The statements of both drivers already have the shape; wrapping each call would cost more than the call.
    const statement = database.prepare(sql)
    if (!isStatement(statement)) throw new TypeError("the driver's statement has no run, get and all")
    return statement
  },
  close: () => void database.close()
})

const isStatement = (value: unknown): value is SqliteStatement =>
  typeof value === "object" &&
  value !== null &&
  ["run", "get", "all"].every((method) => method in value && typeof Reflect.get(value, method) === "function")

const isConstructor = (value: unknown): value is BetterSqlite3 => typeof value === "function"

const hasDatabaseSync = (module: object | undefined): module is { readonly DatabaseSync: BetterSqlite3 } =>
  module !== undefined && "DatabaseSync" in module && isConstructor(module.DatabaseSync)
