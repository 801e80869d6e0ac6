/**
 * One transaction around a synchronous piece of work: all of what it wrote, or nothing.
 *
 * Guarantees: what throws inside undoes everything and is thrown on; nothing is left open.
 * Does not wait for a lock longer than the connection's own busy timeout.
 */
import type { SqliteConnection } from "../SqliteDriver.js"

/** Everything read is of one moment. */
export const readTransaction = <A>(connection: SqliteConnection, use: () => A): A =>
  within({ connection, begin: "BEGIN" }, use)

/** Takes the write lock first, so that nothing read before a write can be out of date at the write. */
export const writeTransaction = <A>(connection: SqliteConnection, use: () => A): A =>
  within({ connection, begin: "BEGIN IMMEDIATE" }, use)

/** Undoes what is open, if anything is. */
export const rollback = (connection: SqliteConnection): void => {
  try {
    connection.exec("ROLLBACK")
  } catch {
    // SQLite has already ended the transaction; the first error is the one that tells something.
  }
}

const within = <A>(
  { connection, begin }: { readonly connection: SqliteConnection; readonly begin: string },
  use: () => A
): A => {
  connection.exec(begin)
  try {
    const value = use()
    connection.exec("COMMIT")
    return value
  } catch (error) {
    rollback(connection)
    throw error
  }
}
