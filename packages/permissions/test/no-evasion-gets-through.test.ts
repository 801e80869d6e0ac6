import { describe, expect, it } from "vitest"
import { attemptAll } from "./authority/attempts.js"

describe("authority", () => {
  it("[P5] no denied command, path or host gets through, and plain lines stay allowed", { timeout: 60_000 }, () => {
    const attempts = attemptAll({ tries: 2_000, seed: 20_260 })
    expect(attempts.filter(({ counterexample }) => counterexample !== undefined)).toEqual([])
    expect(attempts.reduce((sum, { tries }) => sum + tries, 0)).toBe(2_000)
  })
})
