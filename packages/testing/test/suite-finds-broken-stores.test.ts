import { StoreRules, type ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { storeConformance } from "../src/index.js"

type Store = ThreadStore.ThreadStore

/** Ways in which a store may be wrong, each a memory store with one thing undone. */
const broken: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "forgets commit ids": (store) => {
    let count = 0
    return { commit: (commit) => store.commit({ ...commit, id: `${commit.id}-${count++}` }) }
  },
  "does not fence": (store) => ({
    commit: (commit) =>
      Effect.flatMap(store.load(commit.threadId), (view) =>
        store.commit(view === undefined ? commit : { ...commit, epoch: view.epoch })
      )
  }),
  "does not look at the revision": (store) => ({
    commit: (commit) =>
      Effect.flatMap(store.load(commit.threadId), (view) =>
        store.commit(view === undefined ? commit : { ...commit, expectedRevision: view.revision })
      )
  }),
  "answers a fenced owner": (store) => {
    const receipts = new Map<string, Effect.Success<ReturnType<Store["commit"]>>>()
    return {
      commit: (commit) => {
        const known = receipts.get(commit.id)
        if (known !== undefined) return Effect.succeed(known)
        return Effect.tap(store.commit(commit), (receipt) => Effect.sync(() => receipts.set(commit.id, receipt)))
      }
    }
  },
  "gives a live lease away": (store) => ({ claim: (request) => store.claim({ ...request, takeOver: true }) }),
  "loses signals": (store) => ({ inbox: () => Effect.succeed([]), signal: store.signal }),
  "counts a signal twice": (store) => {
    let count = 0
    return { signal: (signal) => store.signal({ ...signal, id: `${signal.id}-${count++}` }) }
  },
  "sorts nothing": (store) => ({
    due: (now, limit) => Effect.map(store.due(now, limit), (items) => items.toReversed())
  }),
  "does not see what is due": () => ({ due: () => Effect.succeed([]) }),
  "starts facts at zero": (store) => ({
    tail: (request) =>
      Effect.map(store.tail(request), (facts) => facts.map((one) => ({ ...one, number: one.number - 1 })))
  }),
  "ignores the limit": (store) => ({
    list: (request) => store.list({ ...request, limit: 1_000 })
  }),
  "never finds a ticket": () => ({ ticket: () => Effect.succeed(undefined) }),
  "gives views that move": (store) => {
    const views = new Map<string, ThreadStore.ThreadView>()
    return {
      load: (threadId) =>
        Effect.map(store.load(threadId), (view) => {
          if (view === undefined) return undefined
          const moving = Object.assign(views.get(threadId) ?? { ...view }, view)
          views.set(threadId, moving)
          return moving
        })
    }
  },
  "deletes under a live lease": (store) => ({
    delete: (threadId) =>
      Effect.andThen(
        Effect.ignore(
          Effect.flatMap(store.claim({ threadId, owner: "thief", ttl: 1, takeOver: true }), (lease) =>
            store.release(lease)
          )
        ),
        store.delete(threadId)
      )
  }),
  "cannot be reached": (store) => ({
    shared: () => Effect.fail(StoreRules.storeError("", { reason: { _tag: "Unavailable" } })),
    load: store.load
  })
}

/** The store's operations as they are before anything is undone. */
const fieldsOf = (store: MemoryThreadStore): Store => ({
  commit: store.commit,
  load: store.load,
  tail: store.tail,
  claim: store.claim,
  renew: store.renew,
  release: store.release,
  signal: store.signal,
  inbox: store.inbox,
  ticket: store.ticket,
  due: store.due,
  list: store.list,
  delete: store.delete,
  shared: store.shared,
  subscribe: store.subscribe
})

const failing = async (change: (store: Store) => Partial<Store>): Promise<ReadonlyArray<string>> => {
  const checks = storeConformance({
    open: ({ now }) => {
      const store = new MemoryThreadStore({ now })
      return { store: Object.assign(store, change(fieldsOf(store))) }
    }
  })
  const failed: Array<string> = []
  for (const { run, title } of checks) await run().catch(() => failed.push(title))
  return failed
}

describe("the store suite finds broken stores", () => {
  it("[D3] a store with nothing undone passes", async () => {
    expect(await failing(() => ({}))).toEqual([])
  })

  for (const [name, change] of Object.entries(broken))
    it(`[D3] a store that ${name} does not pass`, async () => {
      expect((await failing(change)).length).toBeGreaterThan(0)
    })

  it("[R10] the check that fails is the one that says so", async () => {
    expect(await failing(broken["answers a fenced owner"]!)).toEqual([
      "[R10, D2] a fenced owner that sends a commit again is told that it was fenced"
    ])
  })
})
