/**
 * Ids of runs, threads and signals where nobody gives another source: 128 random bits, as 32 hexadecimal digits.
 *
 * Guarantees: from the system's generator, drawn in bulk; each id is one flat string, which is kept in many places.
 * Does not sort: ids say nothing about time.
 */
import { randomFillSync } from "node:crypto"

const size = 16
const pool = Buffer.allocUnsafe(size * 128)
let next = pool.length

export const randomId = (): string => {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  next += size
  return pool.toString("hex", next - size, next)
}
