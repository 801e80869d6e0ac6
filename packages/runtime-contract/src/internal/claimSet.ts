import { claimKey, type ToolConcurrency } from "../ToolConcurrency.js"

/** The union of claims, asked for a conflict in time of the claim that is asked about. */
export class ClaimSet {
  #any = false
  #serial = false
  /** Made for the first resource: most batches name none. */
  #accesses: Map<string, "Read" | "Write"> | undefined

  add(claim: ToolConcurrency): void {
    this.#any = true
    if (claim._tag === "Serial") this.#serial = true
    if (claim._tag !== "Resources") return
    const accesses = (this.#accesses ??= new Map())
    for (const one of claim.claims) {
      const key = claimKey(one)
      if (accesses.get(key) !== "Write") accesses.set(key, one.access)
    }
  }

  conflictsWith(claim: ToolConcurrency): boolean {
    if (this.#serial) return true
    if (claim._tag === "Serial") return this.#any
    const accesses = this.#accesses
    if (claim._tag === "Parallel" || accesses === undefined) return false
    return claim.claims.some((one) => {
      const other = accesses.get(claimKey(one))
      return other !== undefined && (other === "Write" || one.access === "Write")
    })
  }
}
