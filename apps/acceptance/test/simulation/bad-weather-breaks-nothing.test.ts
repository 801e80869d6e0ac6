import { Runtime } from "@toolwright/runtime"
import { simulate, type SimulationReport } from "@toolwright/testing"
import { describe, expect, it } from "vitest"

const makeOwner = Runtime.make.bind(Runtime)

describe("many runs over one store in bad weather", () => {
  it("[R8, R10, D2, H3, H4] in three hundred worlds no law is broken", async () => {
    const reports: Array<SimulationReport> = []
    for (let seed = 1; seed <= 300; seed++) reports.push(await simulate({ seed, makeOwner }))
    expect(
      reports.flatMap(({ seed, violations }) => violations.map((what) => `pnpm simulate --seed ${seed}: ${what}`))
    ).toEqual([])
    const kinds = new Set(reports.flatMap(({ faults }) => faults.map(kindOf)))
    expect([...kinds].toSorted()).toEqual([
      "answered again",
      "cancelled",
      "deaf",
      "dies at a point",
      "done 100 ms later",
      "done 2500 ms later",
      "killed",
      "model fails",
      "never answered",
      "refused",
      "reply lost",
      "request lost",
      "stands still",
      "steered",
      "taken over"
    ])
  }, 120_000)

  it("the same seed is the same world, to the last commit", async () => {
    for (const seed of [3, 77, 4_242])
      expect(await simulate({ seed, makeOwner })).toEqual(await simulate({ seed, makeOwner }))
  }, 60_000)

  it("the faults of a world, played as a script, are the same world", async () => {
    for (const seed of [5, 19]) {
      const drawn = await simulate({ seed, makeOwner })
      expect(await simulate({ seed, makeOwner, only: drawn.faults })).toEqual(drawn)
      expect((await simulate({ seed, makeOwner, only: [] })).faults).toEqual([])
    }
  }, 60_000)
})

const kindOf = (fault: string): string =>
  kinds.find(([pattern]) => pattern.test(fault))?.[1] ?? fault.slice(fault.lastIndexOf(": ") + 2)

const kinds: ReadonlyArray<readonly [RegExp, string]> = [
  [/dies at/, "dies at a point"],
  [/is killed/, "killed"],
  [/stands still/, "stands still"],
  [/takes .* over/, "taken over"],
  [/is cancelled by/, "cancelled"],
  [/is steered by/, "steered"],
  [/is deaf/, "deaf"],
  [/model fails/, "model fails"],
  [/answered (twice|by)/, "answered again"]
]
