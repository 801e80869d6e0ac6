// The README of the testing package shows a program and a seed; both are run here.
import { spawn } from "node:child_process"
import { Runtime } from "@toolwright/runtime"
import { shrink, simulate } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { built } from "../../scenarios/built.mjs"

const linesOf = async (program: string): Promise<ReadonlyArray<string>> => {
  const child = spawn(process.execPath, ["--no-warnings", program], { stdio: ["ignore", "pipe", "inherit"] })
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise((resolve) => child.on("close", resolve))
  return [...output.trim().split("\n"), `ended with ${String(code)}`]
}

describe("the README of the testing package", () => {
  it("[R8] its payment is made once, wherever the process is killed", async () => {
    expect(await linesOf(await built("payments"))).toEqual([
      expect.stringMatching(/^killed (1[5-9]|[2-9]\d) times, 0 violations$/),
      "ended with 0"
    ])
  }, 180_000)

  it("[R8, R10] its worlds break no law, and the same seed is the same world", async () => {
    // #region simulate
    const seed = 7
    const makeOwner: Parameters<typeof simulate>[0]["makeOwner"] = (ports) => Runtime.make(ports)
    const report = await simulate({ seed, makeOwner })
    if (report.violations.length > 0) {
      const { faults, violations } = await shrink({ seed, makeOwner, faults: report.faults })
      throw new Error(`seed ${seed}: ${violations.join("; ")}\nwith ${faults.join("\n")}`)
    }
    // #endregion
    expect(report.faults.length).toBeGreaterThan(0)
    expect(await simulate({ seed, makeOwner })).toEqual(report)
  })
})
