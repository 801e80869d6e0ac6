import { priceOf } from "./price.js"

const euros = (cents) => `${(cents / 100).toFixed(2)} EUR`

/** The receipt for an order: one line for each kind of tea, and the sum. */
export const receiptFor = (order) => {
  const lines = order.map(({ kind, cups }) => `${cups} x ${kind}: ${euros(priceOf(kind, cups))}`)
  const sum = order.reduce((total, { kind, cups }) => total + priceOf(kind, cups), 0)
  // TODO: say when the shop closes.
  return [...lines, `Sum: ${euros(sum)}`].join("\n")
}
