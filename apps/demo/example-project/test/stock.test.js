import assert from "node:assert/strict"
import { test } from "node:test"
import { take } from "../src/stock.js"

test("what is taken is gone", () => {
  assert.deepEqual(take({ green: 5 }, { kind: "green", cups: 2 }), { green: 3 })
})

test("more than there is cannot be taken", () => {
  assert.throws(() => take({ green: 1 }, { kind: "green", cups: 2 }), RangeError)
})
