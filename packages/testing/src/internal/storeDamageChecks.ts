/** Data that cannot be read is an error with its position, and is never repaired. */
import assert from "node:assert/strict"
import { StoreError } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreSubject } from "../StoreConformance.js"
import { checkOn, type World } from "./storeCheck.js"
import { Story, value } from "./storeStory.js"

export const damageChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return (subject.damages ?? []).map((damage) =>
    check(`[R11] ${damage.name} is refused with its position, each time anew`, async (world) => {
      const story = await Story.begin(world.store)
      await story.open([{ wait: "Permission" }])
      await damage.apply(world)
      const first = await positionOf(world)
      assert.notEqual(first, "")
      assert.equal(await positionOf(world), first)
    })
  )
}

/** Opens the data and reads the thread: one of the two must say where it is unreadable. */
const positionOf = async (world: World): Promise<string> => {
  if (world.reopen === undefined) throw new Error("damage needs a subject that can reopen")
  try {
    const store = await world.reopen()
    await value(store.load("thread"))
    await value(store.tail({ threadId: "thread", from: 1 }))
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.reason._tag === "Unreadable") return thrown.reason.position
    throw thrown
  }
  throw new Error("the damaged data was read as if nothing were wrong")
}
