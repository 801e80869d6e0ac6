import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { heard, tell } from "./recordedStory.js"

/**
 * A database of each version as the code of that version wrote it, and what its store said of it. A new version records
 * its own, once:  RECORD_DATABASE=1 pnpm vitest run test/store-sqlite/recorded
 */
const recorded = (version: number): string => fileURLToPath(new URL(`fixtures/threads-${version}.db`, import.meta.url))
const said = (version: number): string => recorded(version).replace(/\.db$/, ".json")

const now = (): number => 1_000

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

/** The version that this code writes. */
const newest = async (): Promise<number> => {
  await world.open({ now })
  const connection = world.connect()
  const row = connection.prepare("SELECT version FROM toolwright_schema WHERE component = 'thread'").get()
  connection.close()
  return Number(row?.["version"])
}

describe("a recorded database", () => {
  it("[R11] is there for every version that was ever written", async () => {
    const versions = Array.from({ length: await newest() }, (_, index) => index + 1)
    if (process.env["RECORD_DATABASE"] === "1") {
      const store = await world.open({ now })
      await tell(store)
      await world.closeAll()
      fs.copyFileSync(world.path, recorded(versions.length))
      fs.writeFileSync(
        said(versions.length),
        `${JSON.stringify(await heard(await world.open({ now })), undefined, 2)}\n`
      )
    }
    expect(versions.filter((version) => !fs.existsSync(recorded(version)) || !fs.existsSync(said(version)))).toEqual([])
  })

  it("[R11] says today what it said when it was recorded", async () => {
    const versions = Array.from({ length: await newest() }, (_, index) => index + 1)
    for (const version of versions) {
      await world.closeAll()
      for (const name of ["", "-wal", "-shm"]) fs.rmSync(`${world.path}${name}`, { force: true })
      fs.copyFileSync(recorded(version), world.path)
      expect(await heard(await world.open({ now }))).toEqual(JSON.parse(fs.readFileSync(said(version), "utf8")))
    }
  })

  it("[R11] says what a database says that was written today", async () => {
    const version = await newest()
    const store = await world.open({ now })
    await tell(store)
    expect(await heard(store)).toEqual(JSON.parse(fs.readFileSync(said(version), "utf8")))
  })
})
