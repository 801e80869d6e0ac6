// A harness that cannot fail proves nothing: it is shown applications that forget, repeat and stop.
import { type CrashReport, killAtEveryPoint } from "@toolwright/testing"
import { beforeAll, describe, expect, it } from "vitest"
import { built } from "../../scenarios/built.mjs"

let report: CrashReport
beforeAll(async () => {
  const program = await built("careless")
  report = await killAtEveryPoint({
    program,
    execArgv: ["--no-warnings"],
    deaths: ({ point }) => point === "dispatch.after"
  })
}, 120_000)

const found = (scenario: string): ReadonlyArray<string> =>
  report.violations
    .filter((violation) => violation.startsWith(`${scenario} at dispatch.after (1): `))
    .map((violation) => violation.split("(1): ")[1] ?? "")

describe("the crash harness", () => {
  it("[D4] finds a store that acknowledges what a death takes away", () => {
    expect(found("a store that forgets")).toEqual(
      expect.arrayContaining([
        "revision 1 was acknowledged and is not there",
        expect.stringContaining("was entered and is nowhere in the thread")
      ])
    )
  })

  it("[R8] finds an application that repeats what must not be repeated", () => {
    expect(found("a recovery that repeats")).toEqual(
      expect.arrayContaining([
        expect.stringContaining("was entered (attempt 2) without a durable intent"),
        expect.stringContaining("may never repeat and was entered 2 times"),
        "a second recovery changed something"
      ])
    )
  })

  it("[R8] finds an application that leaves its runs where they were", () => {
    expect(found("a recovery that does nothing")).toEqual(["the run is left Running"])
  })
})
