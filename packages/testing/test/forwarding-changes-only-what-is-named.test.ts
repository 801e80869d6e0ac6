import type { ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { describe, it, expect } from "vitest"
import { describeConformance, FaultyStore, forwarding, storeConformance } from "../src/index.js"

describeConformance(
  {
    name: "a store behind a forwarding one is a store",
    checks: storeConformance({
      open: ({ now }) => Promise.resolve({ store: forwarding(new MemoryThreadStore({ now })) })
    })
  },
  { describe, it }
)

describe("a forwarding store", () => {
  it("[D3] has every method of the port, also of an instance whose methods are its class's", () => {
    const inner: ThreadStore.ThreadStore = new FaultyStore(new MemoryThreadStore(), { plan: [] })
    expect(Object.keys(forwarding(inner)).toSorted()).toEqual(
      [
        "claim",
        "commit",
        "delete",
        "due",
        "inbox",
        "isProcessLocal",
        "list",
        "load",
        "release",
        "renew",
        "shared",
        "signal",
        "subscribe",
        "tail",
        "ticket"
      ].toSorted()
    )
  })

  it("[D3] is otherwise only where it is told to be", async () => {
    const inner = new MemoryThreadStore()
    let asked = 0
    const store = forwarding(inner, { list: () => Effect.sync(() => (asked++, [])) })
    const request = { threadId: "t", owner: "one", ttl: 1_000 }
    expect(await Effect.runPromise(store.claim(request))).toMatchObject({ epoch: 1 })
    expect(await Effect.runPromise(inner.claim(request))).toMatchObject({ epoch: 2 })
    expect([await Effect.runPromise(store.list({})), asked]).toEqual([[], 1])
  })
})
