/**
 * What a call may run beside: alone, with everything, or with everything that does not touch the same resources.
 *
 * Guarantees: conflict is symmetric, combination only narrows (laws are property tests).
 * Does not schedule: `ToolBatch.plan` does, from these claims.
 */

/** One thing that a call reads or writes, for example `{ access: "Write", namespace: "file", key: "/real/path" }`. */
export interface ResourceClaim {
  readonly access: "Read" | "Write"
  readonly namespace: string
  readonly key: string
}

export type ToolConcurrency =
  | { readonly _tag: "Serial" }
  | { readonly _tag: "Parallel" }
  | { readonly _tag: "Resources"; readonly claims: ReadonlyArray<ResourceClaim> }

/** Alone: conflicts with every other call. */
export const Serial: ToolConcurrency = Object.freeze({ _tag: "Serial" })

/** The default: conflicts with nothing but `Serial`. */
export const Parallel: ToolConcurrency = Object.freeze({ _tag: "Parallel" })

/** Conflicts with a call that shares a key when either of the two writes it. No claims at all is `Parallel`. */
export const Resources = (claims: ReadonlyArray<ResourceClaim>): ToolConcurrency =>
  claims.length === 0 ? Parallel : { _tag: "Resources", claims }

/** The key under which two claims meet. JSON, so that no namespace and key can run together. */
export const claimKey = (claim: ResourceClaim): string => JSON.stringify([claim.namespace, claim.key])

export const conflicts = (left: ToolConcurrency, right: ToolConcurrency): boolean => {
  if (left._tag === "Serial" || right._tag === "Serial") return true
  if (left._tag === "Parallel" || right._tag === "Parallel") return false
  const accesses = accessByKey(left.claims)
  return right.claims.some((claim) => {
    const other = accesses.get(claimKey(claim))
    return other !== undefined && (other === "Write" || claim.access === "Write")
  })
}

/** The same claim, written the same way: the order of its resources counts. */
export const equals = (left: ToolConcurrency, right: ToolConcurrency): boolean =>
  left === right || (left._tag === right._tag && (left._tag !== "Resources" || sameClaims(left, right)))

/** The narrower of the two on every axis: `Serial` absorbs, `Parallel` is the identity, claims are united and `Write` wins. */
export const narrow = (left: ToolConcurrency, right: ToolConcurrency): ToolConcurrency => {
  if (left._tag === "Serial" || right._tag === "Parallel") return left
  if (right._tag === "Serial" || left._tag === "Parallel") return right
  const united = new Map<string, ResourceClaim>()
  for (const claim of [...left.claims, ...right.claims]) {
    const key = claimKey(claim)
    const known = united.get(key)
    if (known === undefined || claim.access === "Write") united.set(key, claim)
  }
  return Resources([...united.values()])
}

const sameClaims = (left: ToolConcurrency, right: ToolConcurrency): boolean =>
  left._tag === "Resources" &&
  right._tag === "Resources" &&
  left.claims.length === right.claims.length &&
  left.claims.every((claim, index) => {
    const other = right.claims[index]
    return other !== undefined && claim.access === other.access && claimKey(claim) === claimKey(other)
  })

const accessByKey = (claims: ReadonlyArray<ResourceClaim>): ReadonlyMap<string, "Read" | "Write"> => {
  const accesses = new Map<string, "Read" | "Write">()
  for (const claim of claims) {
    const key = claimKey(claim)
    if (accesses.get(key) !== "Write") accesses.set(key, claim.access)
  }
  return accesses
}
