/**
 * Lists grants, and revokes them (H7).
 *
 * Guarantees: a revocation is a mark in the store's shared state, under a thread of its own, so that it needs no ownership
 * of the thread where the grant was given and holds in every process at once; it is an audit record of that thread.
 * Does not delete: a revoked grant of a run or a thread lies there until they are gone, and answers nothing.
 */
import {
  AuditChain,
  ExecutableAgentSnapshot,
  Grant,
  Json,
  type Run,
  Run as Runs,
  type StoreError,
  StoreError as StoreErrors,
  ThreadCommit,
  ThreadStore
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { RunError } from "../RunError.js"
import { badRequest } from "../RunError.js"
import type { GrantsQuery, RevokeRequest } from "../RuntimeOptions.js"
import type { ActiveRun } from "./activeRun.js"
import { bounded } from "./bounded.js"
import type { Engine } from "./engine.js"
import { grantKeyOf } from "./grants.js"

const shared = grantKeyOf({ _tag: "Workspace", workspace: "" })

const place = ThreadStore.stateKeyOf(shared.scope, shared.name)

export const listGrants = Effect.fnUntraced(function* (engine: Engine, { threadId, principal }: GrantsQuery) {
  const { state } = yield* bounded(engine, { threadId: "", ask: () => engine.store.shared() })
  const view =
    threadId === undefined ? undefined : yield* bounded(engine, { threadId, ask: () => engine.store.load(threadId) })
  const common = yield* readAll(state.get(place))
  const ofRun = yield* readAll(view?.state.get(`Run:${Grant.stateName}`))
  const ofThread = yield* readAll(view?.state.get(`Thread:${Grant.stateName}`))
  return [...ofRun.grants, ...ofThread.grants, ...common.grants].filter(
    (grant) => !common.revoked.includes(grant.id) && (principal === undefined || grant.principal === principal)
  )
})

const readAll = (value: Json.Json | undefined): Effect.Effect<ReturnType<typeof Grant.readAll>, RunError> =>
  Effect.try({ try: () => Grant.readAll(value), catch: () => badRequest("grants", "stored grants that can be read") })

/** Marks the runs that only carry a change of the runtime's own: they end without asking a model. */
const administrative = "toolwright/administrative"

export const administrativeEnd = (run: ActiveRun): Run.EndCause | undefined =>
  run.pinned.record.metadata?.[administrative] === true ? ended : undefined

const ended: Run.EndCause = { _tag: "Stopped", reason: "done" }

const snapshot = ExecutableAgentSnapshot.builder("toolwright/grants").model({ provider: "none", model: "none" }).build()

/** Tries with shared state read anew, when somebody else was faster. */
const tries = 16

export const revokeGrant = Effect.fnUntraced(function* (engine: Engine, { grantId, by }: RevokeRequest) {
  if (typeof by !== "string" || by.trim() === "") return yield* Effect.fail(badRequest("by", "a name"))
  const threadId = `toolwright/grants/${grantId}`
  const { leaseTtl: ttl, owner, store } = engine
  const lease = yield* bounded(engine, { threadId, ask: () => store.claim({ threadId, owner, ttl }) })
  const view = yield* bounded(engine, { threadId, ask: () => store.load(threadId) })
  const revoking: Revoking = { threadId, grantId, by, epoch: lease.epoch }
  if (view === undefined) yield* begin(engine, revoking)
  if (view?.disposition?._tag !== "Ended")
    yield* bounded(engine, { threadId, ask: () => store.commit(endOf(engine, revoking)) })
  yield* Effect.ignore(bounded(engine, { threadId, ask: () => store.release(lease) }))
})

interface Revoking extends RevokeRequest {
  readonly threadId: string
  readonly epoch: number
}

const begin = Effect.fnUntraced(function* (engine: Engine, revoking: Revoking) {
  const { threadId } = revoking
  for (let left = tries; ; left--) {
    const { revision, state } = yield* bounded(engine, { threadId, ask: () => engine.store.shared() })
    const before = state.get(place)
    const known = yield* readAll(before)
    const grant = known.grants.find(({ id }) => id === revoking.grantId)
    const value: Json.JsonObject = { ...(Json.isJsonObject(before) ? before : {}), [revoking.grantId]: null }
    const commit = startOf(engine, { ...revoking, value, revision, rule: grant?.text })
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

const runIdOf = (threadId: string): string => `${threadId}/revoked`

interface Starting extends Revoking {
  readonly value: Json.JsonObject
  readonly revision: number
  readonly rule: string | undefined
}

const startOf = (
  engine: Engine,
  { threadId, grantId, by, epoch, value, revision, rule }: Starting
): ThreadCommit.ThreadCommit => {
  const at = engine.clock.now()
  const audit: ThreadCommit.AuditRecord = {
    type: "Grant",
    at,
    outcome: "Revoked",
    by,
    ...(rule === undefined ? {} : { rule }),
    detail: { grantId }
  }
  return ThreadCommit.make({
    id: `${runIdOf(threadId)}/${epoch}/${revision}`,
    threadId,
    runId: runIdOf(threadId),
    expectedRevision: 0,
    expectedSharedRevision: revision,
    epoch,
    at,
    disposition: Runs.Running,
    step: 0,
    start: { record: recordOf({ threadId, by, at }), snapshot },
    state: [{ _tag: "Set", scope: shared.scope, key: shared.name, merge: shared.merge, value }],
    audit: [audit],
    auditHead: AuditChain.next(AuditChain.genesis(threadId), [audit])
  })
}

const recordOf = ({
  threadId,
  by,
  at
}: {
  readonly threadId: string
  readonly by: string
  readonly at: number
}): Run.RunRecord => ({
  runId: runIdOf(threadId),
  threadId,
  principal: by,
  snapshotFingerprint: snapshot.fingerprint,
  narrowing: "DenyAll",
  startedAt: at,
  metadata: { [administrative]: true }
})

const endOf = (engine: Engine, { threadId, epoch }: Revoking): ThreadCommit.ThreadCommit =>
  ThreadCommit.make({
    id: `${runIdOf(threadId)}/${epoch}/end`,
    threadId,
    runId: runIdOf(threadId),
    expectedRevision: 1,
    epoch,
    at: engine.clock.now(),
    disposition: Runs.Ended(ended),
    step: 0
  })
