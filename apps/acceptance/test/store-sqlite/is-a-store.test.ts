import * as fs from "node:fs"
import { describeConformance, storeConformance, type StoreDamage, type StoreSubject } from "@toolwright/testing"
import type { SqliteDriver } from "@toolwright/store-sqlite"
import { describe, it } from "vitest"
import { type Scratch, scratch } from "./database.js"

/** The database of the check that is running: checks run one after the other. */
let world: Scratch

const onTables = (name: string, damage: (connection: SqliteDriver.SqliteConnection) => void): StoreDamage => ({
  name,
  apply: () => {
    const connection = world.connect()
    damage(connection)
    connection.close()
    return Promise.resolve()
  }
})

const onFile = (name: string, damage: (path: string) => void): StoreDamage => ({
  name,
  apply: () => {
    const connection = world.connect()
    connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
    connection.close()
    damage(world.path)
    return Promise.resolve()
  }
})

const damages: ReadonlyArray<StoreDamage> = [
  onTables("a commit with one other letter", (connection) =>
    connection.exec("UPDATE thread_commit SET record = replace(record, 'hello', 'jello')")
  ),
  onTables("a commit that is missing", (connection) => connection.exec("DELETE FROM thread_commit WHERE revision = 1")),
  onTables("a commit at another place", (connection) =>
    connection.exec("UPDATE thread_commit SET first_fact = first_fact + 1 WHERE revision = 2")
  ),
  onTables("a snapshot with one other letter", (connection) =>
    connection.exec("UPDATE thread_snapshot SET record = replace(record, 'scripted', 'scribbled')")
  ),
  onTables("a snapshot that is missing", (connection) => connection.exec("DELETE FROM thread_snapshot")),
  onTables("a database of a newer version", (connection) =>
    connection.exec("UPDATE toolwright_schema SET version = 99")
  ),
  onTables("a database without a version", (connection) => connection.exec("DELETE FROM toolwright_schema")),
  onTables("a database with another index", (connection) => connection.exec("DROP INDEX thread_commit_by_revision")),
  onTables("a database with another column", (connection) =>
    connection.exec("ALTER TABLE thread_head ADD COLUMN color TEXT")
  ),
  onTables("a database of somebody else", (connection) =>
    connection.exec("DROP TABLE toolwright_schema; CREATE TABLE invoice (id INTEGER)")
  ),
  onFile("a file that is cut in half", (path) =>
    fs.truncateSync(path, Math.floor(fs.statSync(path).size / 8_192) * 4_096)
  ),
  onFile("a file that is no database", (path) => fs.writeFileSync(path, "Dear diary, ".repeat(2_000))),
  onFile("a file of zeros behind its first page", (path) => {
    const file = fs.openSync(path, "r+")
    fs.writeSync(file, Buffer.alloc(fs.statSync(path).size - 4_096), 0, undefined, 4_096)
    fs.closeSync(file)
  })
]

const subject: StoreSubject = {
  open: async ({ now }) => {
    world = scratch()
    const { closeAll, open, remove } = world
    const reopen = async () => {
      await closeAll()
      return open({ now })
    }
    return { store: await open({ now }), another: () => open({ now }), reopen, close: remove }
  },
  damages
}

describeConformance(
  { name: "the SQLite store is a store", checks: storeConformance(subject, { another: true, reopen: true }) },
  { describe, it }
)
