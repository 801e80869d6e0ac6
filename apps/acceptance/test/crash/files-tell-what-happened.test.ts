import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ScriptedCall } from "@toolwright/testing"
import { afterEach, beforeEach, expect, it } from "vitest"
import { type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

const read: ScriptedCall = { toolId: "read", arguments: { file_path: "a.txt" } }
const rounds: ReadonlyArray<readonly [name: string, call: ScriptedCall, file: string, content: string]> = [
  [
    "an edit",
    { toolId: "edit", arguments: { file_path: "a.txt", old_string: "old", new_string: "new" } },
    "a.txt",
    "new text"
  ],
  [
    "a write",
    { toolId: "write", arguments: { file_path: "a.txt", content: "other", overwrite: true } },
    "a.txt",
    "other"
  ],
  ["a move", { toolId: "move", arguments: { source: "a.txt", destination: "b.txt" } }, "b.txt", "old text"]
]

it.each(rounds)(
  "[R5, R8] %s whose process was killed behind it is found done, and is not done again",
  async (_, call, file, content) => {
    const work = join(world.folder, "work")
    mkdirSync(work)
    writeFileSync(join(work, "a.txt"), "old text")
    const steps = [[read], [call]]
    const first = world.open({
      name: "first",
      files: true,
      steps,
      dieAt: "outcome.known",
      dieAtOccurrence: 2,
      leaseTtl: 1_000
    })
    expect(await first.ask({ do: "run", threadId: "t" })).toMatchObject({
      refused: expect.stringContaining("SIGKILL") as string
    })
    expect(readFileSync(join(work, file), "utf8")).toBe(content)
    // Late enough for the lease of the dead one to be over.
    const second = world.open({ name: "second", files: true, steps, later: 60_000 })
    const [recovered] = await second.recover()
    expect(recovered?.disposition).toBe("Ended NaturalEnd")
    expect(recovered?.messages[4]).toMatch(/^Completed: /)
    expect(readFileSync(join(work, file), "utf8")).toBe(content)
  },
  60_000
)

it("[R5, R8] an edit whose file somebody changed meanwhile is told as unknown", async () => {
  const work = join(world.folder, "work")
  mkdirSync(work)
  writeFileSync(join(work, "a.txt"), "old text")
  const steps = [[read], [{ toolId: "edit", arguments: { file_path: "a.txt", old_string: "old", new_string: "new" } }]]
  const first = world.open({
    name: "first",
    files: true,
    steps,
    dieAt: "outcome.known",
    dieAtOccurrence: 2,
    leaseTtl: 1_000
  })
  await first.ask({ do: "run", threadId: "t" })
  writeFileSync(join(work, "a.txt"), "somebody's text")
  const second = world.open({ name: "second", files: true, steps, later: 60_000 })
  const [recovered] = await second.recover()
  expect(recovered?.messages[4]).toMatch(/^Indeterminate: edit was running when its process was lost/)
  expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("somebody's text")
}, 60_000)
