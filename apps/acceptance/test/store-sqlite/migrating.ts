/**
 * Migrates a made-up component from version 1 to version 3 and is killed when it waits in the middle of version 3.
 * Arguments are the path and `wait` or `go`. Prints from which version it came.
 */
import { SchemaLedger } from "@toolwright/store-sqlite"
import { driver } from "./database.js"
import { madeUp } from "./madeUpLedger.js"

const [path = "", mode = "go"] = process.argv.slice(2)
const connection = driver.open(path)
const middle = (): void => {
  if (mode !== "wait") return
  console.log("in the middle")
  // The process is killed while it waits here, inside the transaction.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)
}
console.log(`came from ${SchemaLedger.migrate(connection, madeUp(3, middle))}`)
connection.close()
