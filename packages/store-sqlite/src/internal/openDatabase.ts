/**
 * A connection to the database of a thread store, with the settings that its promises rest on.
 *
 * Guarantees: a write-ahead log that is synced at every commit, or no connection; tables of the newest version.
 * Does not wait longer than a few milliseconds for another process: whoever calls tries again.
 */
import * as fs from "node:fs"
import { migrate } from "../SchemaLedger.js"
import { failureOf, installed, NoSqliteDriver, type SqliteConnection, type SqliteDriver } from "../SqliteDriver.js"
import { UnusableFile } from "./storeFailure.js"
import { threadSchema } from "./threadSchema.js"

/** How long SQLite itself may hold the event loop for a lock, in milliseconds; longer waits are made of turns. */
const lockWait = 4

/** Opens or creates the file and brings its tables to the newest version. Throws what stands in the way. */
export const openDatabase = (options: { readonly path: string; readonly driver?: SqliteDriver }): SqliteConnection => {
  const driver = options.driver ?? installed()
  createPrivately(options.path)
  const connection = connect(driver, options.path)
  try {
    connection.exec(`PRAGMA busy_timeout = ${lockWait}`)
    const mode = connection.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"]
    if (mode !== "wal") throw new UnusableFile(`no write-ahead log is possible here, the journal is ${String(mode)}`)
    // FULL: the log is synced at every commit. Without it a commit may be lost with the power, after it was acknowledged.
    connection.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    // Where syncing stops at the disk's own memory (macOS), go on to the disk.
    connection.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    // 32 MB: the ends of the indices of many threads, each touched by the next commit of its thread.
    connection.exec("PRAGMA cache_size = -32768")
    migrate(connection, threadSchema)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

const connect = (driver: SqliteDriver, path: string): SqliteConnection => {
  try {
    return driver.open(path)
  } catch (cause) {
    // A driver may look for itself before it asks SQLite.
    if (failureOf(cause) !== undefined || cause instanceof NoSqliteDriver) throw cause
    throw new UnusableFile(`the file cannot be opened (${cause instanceof Error ? cause.message : String(cause)})`, {
      cause
    })
  }
}

/** Threads hold what people say: a new file is for its owner only. SQLite gives its companions the same rights. */
const createPrivately = (path: string): void => {
  // Names of SQLite's own, such as `:memory:`, are no files.
  if (path === "" || path.startsWith(":")) return
  try {
    fs.closeSync(fs.openSync(path, "wx", 0o600))
  } catch {
    // It is there, or it cannot be made; then opening it says why.
  }
}
