/**
 * Lists grants, and revokes them (H7).
 *
 * Guarantees: a revocation is a mark in the store's shared state, under a thread of its own, so that it needs no ownership
 * of the thread where the grant was given and holds in every process at once; it is an audit record of that thread.
 * Does not delete: a revoked grant of a run or a thread lies there until they are gone, and answers nothing.
 */
import {
  AuditChain,
  Grant,
  Json,
  type StoreError,
  StoreError as StoreErrors,
  SystemThread,
  type ThreadCommit,
  ThreadStore
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { RunError } from "../RunError.js"
import { badRequest } from "../RunError.js"
import type { GrantsQuery, RevokeRequest } from "../RuntimeOptions.js"
import { bounded, boundedLoad } from "./bounded.js"
import type { Engine } from "./engine.js"
import { grantKeyOf } from "./grants.js"
import { oneRun, startOf, type SystemRun } from "./systemRuns.js"

const shared = grantKeyOf({ _tag: "Workspace", workspace: "" })

const place = ThreadStore.stateKeyOf(shared.scope, shared.name)

export const listGrants = Effect.fnUntraced(function* (engine: Engine, { threadId, principal }: GrantsQuery) {
  const { state } = yield* bounded(engine, { threadId: "", ask: () => engine.store.shared() })
  const view = threadId === undefined ? undefined : yield* boundedLoad(engine, threadId)
  const common = yield* readAll(state.get(place))
  const ofRun = yield* readAll(view?.state.get(`Run:${Grant.stateName}`))
  const ofThread = yield* readAll(view?.state.get(`Thread:${Grant.stateName}`))
  return [...ofRun.grants, ...ofThread.grants, ...common.grants].filter(
    (grant) => !common.revoked.includes(grant.id) && (principal === undefined || grant.principal === principal)
  )
})

const readAll = (value: Json.Json | undefined): Effect.Effect<ReturnType<typeof Grant.readAll>, RunError> =>
  Effect.try({ try: () => Grant.readAll(value), catch: () => badRequest("grants", "stored grants that can be read") })

/** Tries with shared state read anew, when somebody else was faster. */
const tries = 16

export const revokeGrant = Effect.fnUntraced(function* (engine: Engine, { grantId, by }: RevokeRequest) {
  if (typeof by !== "string" || by.trim() === "") return yield* Effect.fail(badRequest("by", "a name"))
  const threadId = SystemThread.ofGrant(grantId)
  const run: SystemRun = { threadId, runId: `${threadId}/revoked`, by }
  yield* oneRun(engine, { run, begin: ({ epoch }) => begin(engine, { run, grantId, epoch }) })
})

interface Revoking {
  readonly run: SystemRun
  readonly grantId: string
  readonly epoch: number
}

const begin = Effect.fnUntraced(function* (engine: Engine, { run, grantId, epoch }: Revoking) {
  const { threadId, by } = run
  for (let left = tries; ; left--) {
    const { revision, state } = yield* bounded(engine, { threadId, ask: () => engine.store.shared() })
    const before = state.get(place)
    const known = yield* readAll(before)
    const rule = known.grants.find(({ id }) => id === grantId)?.text
    const value: Json.JsonObject = { ...(Json.isJsonObject(before) ? before : {}), [grantId]: null }
    const audit: ThreadCommit.AuditRecord = {
      type: "Grant",
      at: engine.clock.now(),
      outcome: "Revoked",
      by,
      ...(rule === undefined ? {} : { rule }),
      detail: { grantId }
    }
    const carried = {
      expectedSharedRevision: revision,
      state: [{ _tag: "Set" as const, scope: shared.scope, key: shared.name, merge: shared.merge, value }],
      audit: [audit],
      auditHead: AuditChain.next(AuditChain.genesis(threadId), [audit])
    }
    const commit = startOf(engine, { run, epoch, attempt: revision, carried })
    const answer = yield* Effect.result(bounded(engine, { threadId, ask: () => engine.store.commit(commit) }))
    if (answer._tag === "Success") return
    if (left <= 1 || !isMoved(answer.failure)) return yield* Effect.fail(answer.failure)
  }
})

const isMoved = (failure: { readonly cause?: unknown }): boolean => {
  const { cause } = failure
  return cause instanceof StoreErrors && isConflict(cause)
}

const isConflict = ({ reason }: StoreError): boolean => reason._tag === "SharedConflict"
