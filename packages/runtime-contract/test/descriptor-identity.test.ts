import { describe, expect, it } from "vitest"
import type { ToolSpec } from "../src/RawTool.js"
import * as ToolDescriptor from "../src/ToolDescriptor.js"
import { ToolDefinitionError } from "../src/ToolDefinitionError.js"
import type { ToolRecoveryCapability } from "../src/ToolRecovery.js"

const spec: ToolSpec = {
  id: "pay",
  description: "Moves money",
  version: "1",
  inputSchema: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } } },
  outputSchema: { type: "string" },
  kind: "Regular",
  target: "Brain",
  warnings: []
}

const pinned = (changes: Partial<ToolSpec> = {}, recovery: ToolRecoveryCapability = "Idempotent") =>
  ToolDescriptor.forTool({ spec: { ...spec, ...changes }, recovery }, "custom:bank")

const installed = (changes: Partial<ToolSpec> = {}, recovery: ToolRecoveryCapability = "Idempotent") => ({
  spec: { ...spec, ...changes },
  recovery
})

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (thrown) {
    return thrown
  }
}

describe("descriptor identity", () => {
  it("[T14] the identity is the whole digest, the name shows sixteen digits of it", () => {
    const descriptor = pinned()
    expect(descriptor.identity).toMatch(/^[0-9a-f]{64}$/)
    expect(ToolDescriptor.displayName(descriptor)).toBe(`custom:bank:pay:${descriptor.identity.slice(0, 16)}`)
  })

  it("[T14] the identity is what it was when it was first written down", () => {
    expect(pinned().identity).toBe("f7c320d1c064a09ebbf66d0054d18ee569cbd7f358d2ad1e0356c38647e1e48d")
  })

  it("[T14] everything that makes the tool what it is changes the identity", () => {
    const { outputSchema: _o, version: _v, ...bare } = spec
    const all = [
      pinned(),
      pinned({ id: "pay2" }),
      pinned({ version: "2" }),
      pinned({ description: "Moves much money" }),
      pinned({ inputSchema: { type: "object" } }),
      pinned({ outputSchema: { type: "number" } }),
      pinned({ kind: "ClientExecuted" }),
      pinned({ target: "Sandbox" }),
      pinned({}, "ReplaySafe"),
      ToolDescriptor.withRecovery(pinned(), { mode: "NeverReplay" }),
      ToolDescriptor.withRecovery(pinned(), { mode: "Idempotent", maxAttempts: 4 }),
      ToolDescriptor.forTool({ spec: { ...bare, version: "1" }, recovery: "Idempotent" }, "custom:bank"),
      ToolDescriptor.forTool({ spec: { ...bare, outputSchema: { type: "string" } }, recovery: "Idempotent" }, "x")
    ].map((descriptor) => descriptor.identity)
    expect(new Set(all).size).toBe(all.length)
  })

  it("[T14] the prefix decorates and is no part of the identity", () => {
    const other = ToolDescriptor.forTool({ spec, recovery: "Idempotent" }, "mcp:bank")
    expect(other.identity).toBe(pinned().identity)
    expect(ToolDescriptor.displayName(other)).not.toBe(ToolDescriptor.displayName(pinned()))
  })

  it("[T14] the order of keys in a schema does not matter, the order of items does", () => {
    const swapped = { properties: { to: { type: "string" }, amount: { type: "number" } }, type: "object" }
    expect(pinned({ inputSchema: swapped }).identity).toBe(pinned().identity)
    const listed = (required: ReadonlyArray<string>) => pinned({ inputSchema: { ...swapped, required } }).identity
    expect(listed(["to", "amount"])).not.toBe(listed(["amount", "to"]))
  })

  it("[T14] an identity is recomputed, never trusted", () => {
    const descriptor = pinned()
    expect(ToolDescriptor.isGenuine(descriptor)).toBe(true)
    expect(ToolDescriptor.isGenuine({ ...descriptor, description: "Moves nothing" })).toBe(false)
    expect(ToolDescriptor.isGenuine({ ...descriptor, policy: { mode: "NeverReplay", maxAttempts: 3 } })).toBe(false)
    expect(ToolDescriptor.isGenuine({ ...descriptor, identity: "0".repeat(64) })).toBe(false)
  })

  it("[T14, N1] a descriptor is frozen through and through", () => {
    const descriptor = pinned()
    expect(Object.isFrozen(descriptor)).toBe(true)
    expect(Object.isFrozen(descriptor.inputSchema["properties"])).toBe(true)
  })

  it("[R4] the policy is named like the capability, and a tool that promises nothing is never replayed", () => {
    const policies = (["NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest"] as const).map(
      (capability) => pinned({}, capability).policy
    )
    expect(policies).toEqual([
      { mode: "NeverReplay", maxAttempts: 3 },
      { mode: "ReplaySafe", maxAttempts: 3 },
      { mode: "Idempotent", maxAttempts: 3 },
      { mode: "DurableRequest", maxAttempts: 3 }
    ])
  })

  it("[R4] another mode needs the capability of the same name, and attempts are at least one", () => {
    const refused = [
      () => ToolDescriptor.withRecovery(pinned(), { mode: "ReplaySafe" }),
      () => ToolDescriptor.withRecovery(pinned({}, "NonRecoverable"), { mode: "Idempotent" }),
      () => ToolDescriptor.withRecovery(pinned(), { mode: "Idempotent", maxAttempts: 0 }),
      () => ToolDescriptor.withRecovery(pinned(), { mode: "Idempotent", maxAttempts: 1.5 }),
      () => ToolDescriptor.withRecovery(pinned(), { mode: "Idempotent", maxAttempts: 65_536 })
    ].map(thrownBy)
    expect(refused.map((error) => error instanceof ToolDefinitionError && error.reason)).toEqual(
      refused.map(() => "BadRecovery")
    )
    expect(ToolDescriptor.withRecovery(pinned(), { mode: "NeverReplay" }).policy.mode).toBe("NeverReplay")
  })

  it("[T7] a prefix that was forgotten is told where the descriptor is made", () => {
    expect((): unknown => Reflect.apply(ToolDescriptor.forTool, undefined, [{ spec, recovery: "Idempotent" }])).toThrow(
      'tool "pay": expected a prefix such as custom:weather, received nothing'
    )
  })

  it("[T14] a prefix is not empty", () => {
    expect(thrownBy(() => ToolDescriptor.forTool({ spec, recovery: "Idempotent" }, ""))).toBeInstanceOf(
      ToolDefinitionError
    )
  })
})

describe("installed code fits a pinned tool", () => {
  it("[N2] the same id, kind, target, schemas and version fit, whatever the description says", () => {
    expect(ToolDescriptor.fits(pinned(), installed({ description: "Another text" }))).toBe(true)
    const changes: ReadonlyArray<Partial<ToolSpec>> = [
      { id: "pay2" },
      { kind: "ClientExecuted" },
      { target: "Sandbox" },
      { version: "2" },
      { inputSchema: { type: "object" } },
      { outputSchema: { type: "number" } }
    ]
    expect(changes.map((change) => ToolDescriptor.fits(pinned(), installed(change)))).toEqual(changes.map(() => false))
  })

  it("[N2] the installed capability must support the pinned policy", () => {
    const fits = (capability: ToolRecoveryCapability) => ToolDescriptor.fits(pinned(), installed({}, capability))
    expect([fits("Idempotent"), fits("ReplaySafe"), fits("NonRecoverable")]).toEqual([true, false, false])
    const never = ToolDescriptor.withRecovery(pinned(), { mode: "NeverReplay" })
    expect(ToolDescriptor.fits(never, installed({}, "NonRecoverable"))).toBe(true)
  })

  it("[N2] a descriptor that was read back from a store fits like the one that was written", () => {
    const stored = JSON.parse(JSON.stringify(pinned())) as ToolDescriptor.ToolDescriptor
    expect(ToolDescriptor.fits(stored, installed())).toBe(true)
    expect(ToolDescriptor.isGenuine(stored)).toBe(true)
  })
})
