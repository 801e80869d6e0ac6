import assert from "node:assert/strict"
import { test } from "node:test"
import { receiptFor } from "../src/receipt.js"

test("a receipt has a line for each kind, and the sum", () => {
  const order = [
    { kind: "green", cups: 2 },
    { kind: "rooibos", cups: 1 }
  ]
  assert.equal(receiptFor(order), "2 x green: 7.00 EUR\n1 x rooibos: 3.20 EUR\nSum: 10.20 EUR")
})
