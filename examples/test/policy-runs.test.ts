import { PolicyError } from "@toolwright/permissions"
import { describe, expect, it } from "vitest"
import { gateFor, tryOut } from "../policy.js"

describe("the policy example", () => {
  it("decides as its README says", () => {
    expect(tryOut()).toEqual({
      "read pkg/.env": "deny",
      "write src/a.ts": "allow",
      "write src/out/passwd": "ask",
      "git log | head": "ask",
      "git log > src/log": "allow",
      "timeout 5 git push": "ask",
      "http://2852039166/": "deny"
    })
  })

  it("makes a gate", () => {
    expect(gateFor(process.cwd()).id).toBe("permissions")
    expect(PolicyError).toBeTypeOf("function")
  })
})
