/**
 * One attempt of a payment, in a process that may die at any statement: arguments are the path, the attempt, and the
 * statement after which it dies (0: never). The account and the ledger share the file. Prints what the ledger said.
 */
import type { EffectLedger } from "@toolwright/runtime-contract"
import { type SqliteDriver, SqliteEffectLedger } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { watched } from "./watched.js"

const [path = "", attempt = "1", at = "0"] = process.argv.slice(2)
let isCounting = false
let executed = 0
const driver = watched({
  after: () => {
    if (isCounting && ++executed === Number(at)) process.kill(process.pid, "SIGKILL")
  }
})
const connection = driver.open(path)
connection.exec("PRAGMA journal_mode = WAL")
connection.exec("CREATE TABLE IF NOT EXISTS payment (receipt INTEGER PRIMARY KEY, amount INTEGER NOT NULL)")
const ledger = await Effect.runPromise(SqliteEffectLedger.open({ connection }))
const entry: EffectLedger.LedgerEntry = { ledgerId: "payment", attempt: Number(attempt), digest: "12 to bob" }

const pay = (transaction: SqliteDriver.SqliteConnection): number =>
  Number(transaction.prepare("INSERT INTO payment (amount) VALUES (?)").run(12).lastInsertRowid)

isCounting = true
const { repeated, result } = await Effect.runPromise(ledger.once(entry, pay))
console.log(`${repeated ? "repeated" : "made"} ${JSON.stringify(result)} in ${executed} statements`)
