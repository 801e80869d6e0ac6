/**
 * A driver that tells of every statement before and after SQLite executes it: for counting, for looking at plans, for
 * failing on purpose and for dying on purpose.
 */
import type { SqliteDriver } from "@toolwright/store-sqlite"
import { driver } from "./database.js"

export interface Watcher {
  readonly prepared?: (sql: string) => void
  /** May throw: the statement is not executed then. */
  readonly before?: (sql: string, values: ReadonlyArray<SqliteDriver.SqliteValue>) => void
  /** May throw: the statement was executed then. */
  readonly after?: (sql: string) => void
}

export const watched = (watcher: Watcher): SqliteDriver.SqliteDriver => ({
  name: driver.name,
  open: (path) => {
    const connection = driver.open(path)
    const around = <A>(
      of: { readonly sql: string; readonly values: ReadonlyArray<SqliteDriver.SqliteValue> },
      use: () => A
    ): A => {
      watcher.before?.(of.sql, of.values)
      const value = use()
      watcher.after?.(of.sql)
      return value
    }
    return {
      exec: (sql) => around({ sql, values: [] }, () => connection.exec(sql)),
      prepare: (sql) => {
        watcher.prepared?.(sql)
        const statement = connection.prepare(sql)
        return {
          run: (...values) => around({ sql, values }, () => statement.run(...values)),
          get: (...values) => around({ sql, values }, () => statement.get(...values)),
          all: (...values) => around({ sql, values }, () => statement.all(...values))
        }
      },
      close: () => connection.close()
    }
  }
})
