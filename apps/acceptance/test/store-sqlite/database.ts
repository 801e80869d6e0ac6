/**
 * A scratch database for one test, and the SQLite of the Node that runs it: `node:sqlite` from 22.13 on, before that
 * `better-sqlite3`, which this private workspace has as an optional dependency. Without it these tests fail by name.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqliteDriver, SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"

const betterSqlite3 = (): SqliteDriver.SqliteDriver =>
  SqliteDriver.betterSqlite3(createRequire(import.meta.url)("better-sqlite3") as SqliteDriver.BetterSqlite3)

export const driver: SqliteDriver.SqliteDriver = SqliteDriver.nodeSqlite() ?? betterSqlite3()

export interface Scratch {
  readonly folder: string
  readonly path: string
  /** A store on the scratch database. */
  readonly open: (
    options?: Partial<SqliteThreadStore.SqliteThreadStoreOptions>
  ) => Promise<SqliteThreadStore.SqliteThreadStore>
  /** A bare connection, for looking and for damage. */
  readonly connect: () => SqliteDriver.SqliteConnection
  readonly closeAll: () => Promise<void>
  /** Closes every store and removes the folder. */
  readonly remove: () => Promise<void>
}

export const scratch = (): Scratch => {
  const folder = mkdtempSync(join(tmpdir(), "store-sqlite-"))
  const path = join(folder, "threads.db")
  const opened: Array<SqliteThreadStore.SqliteThreadStore> = []
  const closeAll = async (): Promise<void> => {
    for (const store of opened.splice(0)) await Effect.runPromise(store.close)
  }
  return {
    folder,
    path,
    open: async (options = {}) => {
      const store = await Effect.runPromise(SqliteThreadStore.open({ path, driver, ...options }))
      opened.push(store)
      return store
    },
    connect: () => driver.open(path),
    closeAll,
    remove: async () => {
      await closeAll()
      rmSync(folder, { recursive: true })
    }
  }
}
