import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Spill } from "@toolwright/runtime-contract"
import { describeConformance, spillConformance } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { FileSpill } from "../src/index.js"

const made = (): { readonly folder: string; readonly spill: FileSpill.FileSpill } => {
  const folder = join(fs.mkdtempSync(join(tmpdir(), "spill-")), "texts")
  return { folder, spill: new FileSpill.FileSpill({ folder }) }
}

describeConformance(
  {
    name: "the file spill is a spill",
    checks: spillConformance({
      open: () => {
        const { folder, spill } = made()
        return {
          spill,
          reopen: () => Promise.resolve(new FileSpill.FileSpill({ folder })),
          close: () => Promise.resolve(fs.rmSync(join(folder, ".."), { recursive: true }))
        }
      }
    })
  },
  { describe, it }
)

describe("the files of a spill", () => {
  let world: ReturnType<typeof made>
  beforeEach(() => {
    world = made()
  })
  afterEach(() => fs.rmSync(join(world.folder, ".."), { recursive: true }))

  const files = (): ReadonlyArray<string> =>
    fs
      .readdirSync(world.folder, { recursive: true, withFileTypes: true })
      .flatMap((one) => (one.isFile() ? [one.name] : []))

  it("[T10] are one for each operation, and nothing half-written is left beside them", async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => Effect.runPromise(world.spill.put(`run/1/${index % 2}`, "text")))
    )
    expect(files().map((name) => name.replace(/^[0-9a-f]{64}/, "name"))).toEqual(["name.txt", "name.txt"])
  })

  it("[T10] are not found under a name that a crash left behind", async () => {
    const reference = await Effect.runPromise(world.spill.put("run/1/0", "whole"))
    const [name = ""] = files()
    const file = join(world.folder, name.slice(0, 2), name)
    fs.renameSync(file, `${file}.0.part`)
    const before = await Effect.runPromise(world.spill.get(reference))
    await Effect.runPromise(world.spill.put("run/1/0", "again"))
    expect([before, await Effect.runPromise(world.spill.get(reference))]).toEqual([undefined, "again"])
  })

  it("[H1] are for their owner only", async () => {
    await Effect.runPromise(world.spill.put("run/1/0", "text"))
    const [name = ""] = files()
    const modes = [world.folder, join(world.folder, name.slice(0, 2), name)].map(
      (path) => fs.statSync(path).mode & 0o777
    )
    expect(modes).toEqual([0o700, 0o600])
  })

  it("[E2] that cannot be written are a SpillFailed with its cause", async () => {
    fs.writeFileSync(world.folder, "in the way")
    const failure = await Effect.runPromise(Effect.flip(world.spill.put("run/1/0", "text")))
    expect([failure instanceof Spill.SpillFailed, failure.cause]).toMatchObject([true, { code: "ENOTDIR" }])
  })
})
