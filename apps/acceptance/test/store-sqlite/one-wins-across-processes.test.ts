import * as fs from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { built, type Ended, start } from "./program.js"
import { asking, ownerOf, starting } from "./thread.js"

const names = ["ada", "bob", "cyd", "dan"]
let world: Scratch
let outcomes: ReadonlyArray<Ended>

/** Who got what: for each thing of a kind, the names of those who were told that they have it. */
const winners = (kind: string): ReadonlyArray<ReadonlyArray<string>> => {
  const got = new Map<string, Array<string>>()
  for (const [index, { lines }] of outcomes.entries())
    for (const line of lines) {
      const [what = "", which = "", how = ""] = line.split(" ")
      if (what !== kind) continue
      const list = got.get(which) ?? []
      if (how === "got") list.push(names[index] ?? "")
      got.set(which, list)
    }
  return [...got.values()]
}

/** Every way in which a thing of a kind was refused. */
const refusals = (kind: string): ReadonlyArray<string> =>
  [
    ...new Set(
      outcomes.flatMap(({ lines }) =>
        lines.filter((line) => line.startsWith(kind)).map((line) => line.split(" ")[2] ?? "")
      )
    )
  ].toSorted()

beforeAll(async () => {
  world = scratch()
  const store = await world.open()
  const threadIds = ["contested", ...Array.from({ length: 20 }, (_, index) => `asking-${index}`)]
  for (const threadId of threadIds) {
    await Effect.runPromise(store.claim({ threadId, owner: "first", ttl: 3_600_000 }))
    await Effect.runPromise(store.commit(starting(ownerOf(threadId))))
    if (threadId !== "contested")
      await Effect.runPromise(store.commit(asking({ owner: ownerOf(threadId), revision: 1 })))
  }
  const program = await built("racing")
  const go = join(world.folder, "go")
  let ready = 0
  const onLine = (line: string): void => {
    if (line === "ready" && ++ready === names.length) fs.writeFileSync(go, "")
  }
  outcomes = await Promise.all(names.map((name) => start(program, { args: [world.path, name, go], onLine }).ended))
}, 120_000)
afterAll(() => world.remove())

describe("four processes on one file", () => {
  it("[E2] come to an end without an error", () => {
    expect(outcomes.map(({ code, errors, lines }) => [code, errors, lines.length])).toEqual(
      names.map(() => [0, "", 121])
    )
  })

  it("[R10] each thread is claimed by exactly one", () => {
    expect(winners("claim").map((all) => all.length)).toEqual(Array.from({ length: 40 }, () => 1))
    expect(refusals("claim")).toEqual(["ThreadBusy", "got"])
  })

  it("[R10, D2] each revision is made by exactly one commit, and all of them are there", async () => {
    expect(winners("commit").map((all) => all.length)).toEqual(Array.from({ length: 60 }, () => 1))
    expect(refusals("commit")).toEqual(["RevisionConflict", "got"])
    const view = await Effect.runPromise((await world.open()).load("contested"))
    const said = view?.messages.toArray(1).map((message) => (message.role === "user" ? message.content : []))
    expect(said).toEqual(winners("commit").map(([name], index) => [{ type: "text", text: `${name} ${index + 1}` }]))
  })

  it("[H3] each ticket is decided by exactly one answer, and the others are told", async () => {
    expect(winners("answer").map((all) => all.length)).toEqual(Array.from({ length: 20 }, () => 1))
    expect(refusals("answer")).toEqual(["AlreadyDecided", "got"])
    const store = await world.open()
    const decisions = await Promise.all(
      winners("answer").map((_, index) =>
        Effect.runPromise(store.ticket(`${ownerOf(`asking-${index}`).runId}/1/0:Permission:0`))
      )
    )
    expect(decisions.map((state) => state?.decision)).toEqual(winners("answer").map((by) => ({ _tag: "Allowed", by })))
  })
})
