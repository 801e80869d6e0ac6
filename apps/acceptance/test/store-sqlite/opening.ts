/** Opens a store and prints what came of it. */
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { driver } from "./database.js"

const result = await Effect.runPromise(Effect.result(SqliteThreadStore.open({ path: process.argv[2] ?? "", driver })))
console.log(Result.isSuccess(result) ? "opened" : `${result.failure.reason._tag} ${result.failure.message}`)
