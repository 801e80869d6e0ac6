/** Opens a store and dies after so many statements. Arguments are the path and the number. */
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { watched } from "./watched.js"

const [path = "", at = "0"] = process.argv.slice(2)
let executed = 0
const driver = watched({
  after: () => {
    if (++executed === Number(at)) process.kill(process.pid, "SIGKILL")
  }
})
await Effect.runPromise(SqliteThreadStore.open({ path, driver }))
console.log(executed)
