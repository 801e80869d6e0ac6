import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { priceOf, withTip } from "../src/price.js"

describe("prices", () => {
  it("one cup costs what the list says", () => {
    assert.equal(priceOf("green", 1), 350)
  })

  it("nine cups cost the full price", () => {
    assert.equal(priceOf("black", 9), 2700)
  })

  it("ten cups are a tenth cheaper", () => {
    assert.equal(priceOf("black", 10), 2700)
  })

  it("a tip is added in percent", () => {
    assert.equal(withTip(1000, 15), 1150)
  })
})
