/**
 * What the model sees of a tool, pinned: id, description, schemas, recovery policy, and an identity over all of it.
 *
 * Guarantees: derived from a definition, so nothing is written twice; frozen; the identity is recomputed, never trusted
 * from outside.
 * Does not execute, and needs no client: visibility and executability are separate decisions.
 */
import { describeValue } from "./internal/describeValue.js"
import { deepFreeze, digest, type JsonObject } from "./Json.js"
import type { ToolKind, ToolSpec, ToolTarget } from "./RawTool.js"
import { ToolDefinitionError } from "./ToolDefinitionError.js"
import {
  type ToolRecoveryCapability,
  type ToolRecoveryPolicy,
  make as makePolicy,
  policyFor,
  supports
} from "./ToolRecovery.js"

export interface ToolDescriptor extends ToolSpec {
  /** Where it comes from, for example `"custom:weather"`. Decorates the name; not part of the identity. */
  readonly prefix: string
  readonly capability: ToolRecoveryCapability
  readonly policy: ToolRecoveryPolicy
  /** SHA-256 (64 hex digits) over canonical JSON of all that makes the tool what it is. */
  readonly identity: string
}

/** Whatever can say its spec and its capability: a definition, a tool, an erased tool. */
export interface Describable {
  readonly spec: ToolSpec | (() => ToolSpec)
  readonly recovery: ToolRecoveryCapability
}

/** Throws `ToolDefinitionError` for an empty prefix. The policy is derived from the capability. */
export const forTool = (tool: Describable, prefix: string): ToolDescriptor => {
  const spec = typeof tool.spec === "function" ? tool.spec() : tool.spec
  if (typeof prefix !== "string" || prefix === "")
    throw new ToolDefinitionError({
      reason: "BadPrefix",
      toolId: spec.id,
      expected: "a prefix such as custom:weather",
      received: describeValue(prefix)
    })
  return pin(spec, { prefix, capability: tool.recovery, policy: policyFor(tool.recovery) })
}

/** The same tool under another policy, and so with another identity. Throws where the capability does not support it. */
export const withRecovery = (
  descriptor: ToolDescriptor,
  policy: { readonly mode: ToolRecoveryPolicy["mode"]; readonly maxAttempts?: number }
): ToolDescriptor => {
  const checked = makePolicy(policy.mode, policy.maxAttempts)
  if (!supports(descriptor.capability, checked.mode))
    throw new ToolDefinitionError({
      reason: "BadRecovery",
      toolId: descriptor.id,
      expected: `NeverReplay or the mode of the tool's capability ${descriptor.capability}`,
      received: checked.mode
    })
  return pin(descriptor, { prefix: descriptor.prefix, capability: descriptor.capability, policy: checked })
}

/** The identity of a spec under a policy. Key order and formatting of the schemas do not matter. */
export const identityOf = (spec: ToolSpec, policy: ToolRecoveryPolicy): string =>
  digest("toolwright/descriptor/1", {
    id: spec.id,
    version: spec.version ?? null,
    description: spec.description,
    inputSchema: spec.inputSchema,
    outputSchema: spec.outputSchema ?? null,
    kind: spec.kind,
    target: spec.target,
    recovery: { mode: policy.mode, maxAttempts: policy.maxAttempts }
  })

/** `{prefix}:{id}:{16 hex}`: for people. Equality uses the whole identity. */
export const displayName = (descriptor: ToolDescriptor): string =>
  `${descriptor.prefix}:${descriptor.id}:${descriptor.identity.slice(0, 16)}`

/** True when the identity is what its content says; a stored or received descriptor is checked with this. */
export const isGenuine = (descriptor: ToolDescriptor): boolean =>
  descriptor.identity === identityOf(descriptor, descriptor.policy)

/** What installed code must share with a pinned descriptor to run under it (N2). The description does not matter. */
export const fits = (
  pinned: ToolDescriptor,
  installed: { readonly spec: ToolSpec; readonly recovery: ToolRecoveryCapability }
): boolean => supports(installed.recovery, pinned.policy.mode) && shapeOf(pinned) === shapeOf(installed.spec)

const shapes = new WeakMap<ToolSpec, string>()

const shapeOf = (spec: ToolSpec): string => {
  const known = shapes.get(spec)
  if (known !== undefined) return known
  const shape = digest("toolwright/shape/1", {
    id: spec.id,
    version: spec.version ?? null,
    inputSchema: spec.inputSchema,
    outputSchema: spec.outputSchema ?? null,
    kind: spec.kind,
    target: spec.target
  })
  shapes.set(spec, shape)
  return shape
}

const pin = (
  spec: ToolSpec,
  pinned: { readonly prefix: string; readonly capability: ToolRecoveryCapability; readonly policy: ToolRecoveryPolicy }
): ToolDescriptor => {
  const own: {
    id: string
    description: string
    inputSchema: JsonObject
    kind: ToolKind
    target: ToolTarget
    warnings: ReadonlyArray<string>
  } = {
    id: spec.id,
    description: spec.description,
    inputSchema: spec.inputSchema,
    kind: spec.kind,
    target: spec.target,
    warnings: spec.warnings
  }
  return deepFreeze({
    ...own,
    ...(spec.version === undefined ? {} : { version: spec.version }),
    ...(spec.outputSchema === undefined ? {} : { outputSchema: spec.outputSchema }),
    ...pinned,
    identity: identityOf(spec, pinned.policy)
  })
}
