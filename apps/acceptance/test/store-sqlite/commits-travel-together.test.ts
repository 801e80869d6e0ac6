import { StoreError, type ThreadCommit } from "@toolwright/runtime-contract"
import type { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { ownerOf, saying, starting } from "./thread.js"
import { watched } from "./watched.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

const names = Array.from({ length: 50 }, (_, index) => `thread-${index}`)

const claimed = (store: SqliteThreadStore.SqliteThreadStore, threadIds: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.forEach(threadIds, (threadId) => store.claim({ threadId, owner: "one", ttl: 60_000 }), {
      concurrency: "unbounded",
      discard: true
    })
  )

/** How each commit of several that wait together ended: its revision, or the reason of its refusal. */
const together = (
  store: SqliteThreadStore.SqliteThreadStore,
  commits: ReadonlyArray<ThreadCommit.ThreadCommit>
): Promise<ReadonlyArray<number | string>> =>
  Promise.all(
    commits.map(async (commit) => {
      const result = await Effect.runPromise(Effect.result(store.commit(commit)))
      if (Result.isSuccess(result)) return result.success.revision
      return result.failure instanceof StoreError ? result.failure.reason._tag : "no StoreError"
    })
  )

describe("commits that wait together", () => {
  it("[D4] go down in one transaction", async () => {
    const transactions: Array<string> = []
    const store = await world.open({
      driver: watched({ before: (sql) => void (sql === "COMMIT" && transactions.push(sql)) })
    })
    await claimed(store, names)
    const before = transactions.length
    expect(
      await together(
        store,
        names.map((name) => starting(ownerOf(name)))
      )
    ).toEqual(names.map(() => 1))
    expect(transactions.length - before).toBe(1)
  })

  it("[D4] are acknowledged only when COMMIT has returned", async () => {
    const happened: Array<string> = []
    const store = await world.open({
      driver: watched({ after: (sql) => void (sql === "COMMIT" && happened.push("durable")) })
    })
    await claimed(store, ["a", "b"])
    happened.length = 0
    await Promise.all(
      ["a", "b"].map((name) =>
        // Not in a promise's turn, which would come later than the answer itself.
        Effect.runPromise(
          Effect.tap(store.commit(starting(ownerOf(name))), () =>
            Effect.sync(() => happened.push(`acknowledged ${name}`))
          )
        )
      )
    )
    expect(happened).toEqual(["durable", "acknowledged a", "acknowledged b"])
  })

  it("[D4] are each checked alone: a refused one leaves its neighbours", async () => {
    const store = await world.open()
    await claimed(store, ["a", "b", "c"])
    const late = saying({ owner: ownerOf("b"), revision: 7 })
    const fenced = starting(ownerOf("c", 9))
    expect(await together(store, [starting(ownerOf("a")), late, fenced, starting(ownerOf("b"))])).toEqual([
      1,
      "RevisionConflict",
      "Fenced",
      1
    ])
    expect((await Effect.runPromise(store.load("c")))?.revision).toBe(undefined)
  })

  it("[D4] of one thread build on one another", async () => {
    const store = await world.open()
    await claimed(store, ["a"])
    const owner = ownerOf("a")
    const rest = [1, 2, 3].map((revision) => saying({ owner, revision }))
    expect(await together(store, [starting(owner), ...rest])).toEqual([1, 2, 3, 4])
    expect((await Effect.runPromise(store.load("a")))?.messages.length).toBe(4)
  })

  it("[D4] fail alone when one of them cannot be written", async () => {
    const store = await world.open({
      driver: watched({
        before: (sql, values) => {
          const isPoison =
            sql.includes("INSERT INTO thread_commit") && values.some((value) => String(value).includes("poison"))
          if (isPoison) throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_WRITE" })
        }
      })
    })
    await claimed(store, ["a", "b", "c"])
    const poison = { ...starting(ownerOf("b")), id: "poison" }
    expect(await together(store, [starting(ownerOf("a")), poison, starting(ownerOf("c"))])).toEqual([
      1,
      "Unavailable",
      1
    ])
    const views = await Promise.all(["a", "b", "c"].map((name) => Effect.runPromise(store.load(name))))
    expect(views.map((view) => view?.revision)).toEqual([1, undefined, 1])
  })

  it("[D2] are all unanswered when COMMIT fails, and asking again under their ids settles it", async () => {
    let isBroken = false
    const store = await world.open({
      driver: watched({
        after: (sql) => {
          if (sql === "COMMIT" && isBroken)
            throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" })
        }
      })
    })
    await claimed(store, ["a", "b"])
    const commits = [starting(ownerOf("a")), starting(ownerOf("b"))]
    isBroken = true
    expect(await together(store, commits)).toEqual(["Unanswered", "Unanswered"])
    isBroken = false
    // They were durable after all: the first receipts are given, and nothing is written twice.
    expect(await together(store, commits)).toEqual([1, 1])
    expect((await Effect.runPromise(store.load("a")))?.messages.length).toBe(1)
  })
})

describe("commits whose ids have the same hash", () => {
  it("[D2] are two commits, and each is known again by its own id", async () => {
    const store = await world.open()
    await claimed(store, ["a"])
    const owner = ownerOf("a")
    // FNV-1a of both is 594192578.
    const ids = ["commit-1049599", "commit-1212382"]
    const commits = ids.map((id, index) => saying({ owner, revision: index + 1 }, { id }))
    const sent = await together(store, [starting(owner), ...commits])
    await world.closeAll()
    const again = await together(await world.open(), commits)
    expect([sent, again]).toEqual([
      [1, 2, 3],
      [2, 3]
    ])
  })
})
