/**
 * The versions of a database's tables, in order, and the one way from any older version to the newest.
 *
 * Guarantees: all steps of a migration are one transaction, so a crash leaves the old version or the new one; a database
 * that is newer, foreign or altered is refused with its position and left as it was.
 * Does not go back and does not repair: an older program never opens what a newer one has written.
 */
import { Json } from "@toolwright/runtime-contract"
import { readTransaction, writeTransaction } from "./internal/transaction.js"
import type { SqliteConnection, SqliteRow } from "./SqliteDriver.js"

export interface SchemaVersion {
  /** 1, 2, 3, … without gaps. A version that was released is never edited. */
  readonly version: number
  /** What is different since the version before, for people. */
  readonly change: string
  /** Brings the tables from the version before to this one. Runs inside the migration's transaction. */
  readonly up: (connection: SqliteConnection) => void
}

export interface SchemaLedger {
  /** Names the tables' owner. Every table and index of it starts with this name and `_`. */
  readonly component: string
  /** Whether the file is the component's alone: it then refuses a file that holds anything of somebody else. */
  readonly ownsFile: boolean
  readonly versions: ReadonlyArray<SchemaVersion>
}

/** Why a database is not opened. `position` says which part of it, `found` and `expected` what is wrong there. */
export class SchemaRefused extends Error {
  readonly _tag = "SchemaRefused"
  override readonly name = "SchemaRefused"
  readonly reason: "Newer" | "Foreign" | "Altered"
  readonly position: string
  constructor(refusal: {
    readonly reason: SchemaRefused["reason"]
    readonly position: string
    readonly found: string
    readonly expected: string
  }) {
    super(`${refusal.position}: expected ${refusal.expected}, found ${refusal.found}`)
    this.reason = refusal.reason
    this.position = refusal.position
  }
}

/**
 * Brings the component's tables to the newest version and says from which version it came (0: there was nothing).
 * Throws `SchemaRefused`, or what the driver throws; either way nothing has changed.
 */
export const migrate = (connection: SqliteConnection, ledger: SchemaLedger): number => {
  // Most openings find everything in place, and must not wait for whoever is writing.
  const seen = readTransaction(connection, () => versionOf(connection, ledger))
  if (seen === newestOf(ledger)) return seen
  return writeTransaction(connection, () => {
    const from = versionOf(connection, ledger)
    for (const step of ledger.versions) if (step.version > from) step.up(connection)
    if (from < newestOf(ledger)) record(connection, ledger)
    return from
  })
}

/**
 * Looks whether the tables still are of the newest version that this code knows: another program may have migrated them
 * while this one had them open. Throws `SchemaRefused`.
 */
export const verify = (connection: SqliteConnection, ledger: SchemaLedger): void => {
  const version = versionOf(connection, ledger)
  if (version !== newestOf(ledger))
    throw new SchemaRefused({
      reason: "Altered",
      position: `schema ${ledger.component}`,
      found: `version ${version}`,
      expected: `version ${newestOf(ledger)}`
    })
}

/** The number of the newest version that this code knows. */
export const newestOf = (ledger: SchemaLedger): number => ledger.versions.length

const registry = "toolwright_schema"

/** The version in the file, after checking that it is whole. */
const versionOf = (connection: SqliteConnection, ledger: SchemaLedger): number => {
  const names = connection.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").all()
  const isRegistered = names.some((row) => row["name"] === registry)
  if (ledger.ownsFile && !isRegistered && names.length > 0)
    throw new SchemaRefused({
      reason: "Foreign",
      position: "schema",
      found: `tables of somebody else (${String(names[0]?.["name"])})`,
      expected: `an empty file or one of ${ledger.component}`
    })
  const row = isRegistered
    ? connection.prepare(`SELECT version, digest FROM ${registry} WHERE component = ?`).get(ledger.component)
    : undefined
  if (row === undefined) return nothingOf(connection, ledger)
  const { version } = row
  const position = `schema ${ledger.component}`
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1)
    throw new SchemaRefused({ reason: "Altered", position, found: `version ${String(version)}`, expected: "a version" })
  if (version > newestOf(ledger))
    throw new SchemaRefused({
      reason: "Newer",
      position,
      found: `version ${version}`,
      expected: `at most ${newestOf(ledger)}`
    })
  if (row["digest"] !== digestOf(connection, ledger))
    throw new SchemaRefused({
      reason: "Altered",
      position,
      found: "other tables or indices",
      expected: `those of version ${version}`
    })
  return version
}

/** No version is registered: then there must be no table either. */
const nothingOf = (connection: SqliteConnection, ledger: SchemaLedger): number => {
  const [first] = objectsOf(connection, ledger)
  if (first === undefined) return 0
  const position = `schema ${ledger.component}`
  throw new SchemaRefused({
    reason: "Altered",
    position,
    found: `${String(first["name"])} without a version`,
    expected: "a version"
  })
}

const record = (connection: SqliteConnection, ledger: SchemaLedger): void => {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS ${registry} (component TEXT PRIMARY KEY, version INTEGER NOT NULL, digest TEXT NOT NULL) STRICT`
  )
  connection
    .prepare(
      `INSERT INTO ${registry} (component, version, digest) VALUES (?, ?, ?)
       ON CONFLICT (component) DO UPDATE SET version = excluded.version, digest = excluded.digest`
    )
    .run(ledger.component, newestOf(ledger), digestOf(connection, ledger))
}

const objectsOf = (connection: SqliteConnection, { component }: SchemaLedger): ReadonlyArray<SqliteRow> =>
  connection
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE substr(name, 1, ?) = ? AND sql IS NOT NULL ORDER BY name"
    )
    .all(component.length + 1, `${component}_`)

/** What the component's tables and indices are made of. White space does not count. */
const digestOf = (connection: SqliteConnection, ledger: SchemaLedger): string =>
  Json.digest(
    "toolwright/schema/1",
    objectsOf(connection, ledger).map((row) =>
      ["type", "name", "tbl_name", "sql"].map((column) => String(row[column]).replaceAll(/\s+/g, " "))
    )
  )
