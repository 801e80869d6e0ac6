/**
 * Fixes what a run is made of, at its start and when it is found again (N2).
 *
 * Guarantees: a snapshot runs only if fingerprint and identities are what its content says; a run that is found runs the
 * stored copy, never a caller's; a policy of its own that cannot be found blocks every call; the host's ceilings only lower.
 * Does not commit.
 */
import {
  ExecutableAgentSnapshot,
  GateOutcome,
  type Json,
  Json as Jsons,
  type Message,
  type PermissionGate,
  type Run
} from "@toolwright/runtime-contract"
import { badRequest, RunError } from "../RunError.js"
import type { ActiveRun, Pinned } from "./activeRun.js"
import type { Engine } from "./engine.js"
import { environmentOf } from "./pluginEnvironment.js"
import { planOf } from "./snapshotPlan.js"

type Snapshot = ExecutableAgentSnapshot.ExecutableAgentSnapshot

export interface StartGiven {
  readonly runId: string
  readonly snapshot: Snapshot
  readonly input: ReadonlyArray<Message.ContentBlock>
  readonly principal: string
  readonly narrowing: GateOutcome.RunNarrowing
  readonly policy: PermissionGate.PermissionGate | undefined
  readonly metadata: Json.JsonObject | undefined
  /** For a child run. */
  readonly parent?: Run.RunRecord["parent"]
}

/** How deep a child lies, and the plugins whose gates it inherits, among the metadata of its record. */
export const depthName = "toolwright/depth"
export const inheritedName = "toolwright/inherited"

type Selected = Snapshot["plugins"]

/** Plugins that the parents of a run have selected. */
export const inheritedOf = ({ metadata }: Run.RunRecord): Selected => {
  const given = metadata?.[inheritedName]
  if (!Array.isArray(given)) return []
  return given.flatMap((one: Json.Json) =>
    Jsons.isJsonObject(one) && typeof one["id"] === "string" ? [{ ...one, id: one["id"] }] : []
  )
}

/** The gates of a run: of its snapshot, and of its parents where it has some. */
const gatesOf = (engine: Engine, { record, snapshot }: Pick<Pinned, "record" | "snapshot">): Pinned["gates"] => {
  const own = planOf(engine, snapshot).environment.gates
  const inherited = inheritedOf(record)
  if (inherited.length === 0) return own
  const known = new Map(inherited.map((one) => [one.id, one]))
  const ids = new Set(own.map(({ id }) => id))
  return [...own, ...environmentOf(engine, [...known.values()]).gates.filter(({ id }) => !ids.has(id))]
}

/** The id of a run's own policy, among the metadata of its record. */
const policyName = "toolwright/policy"

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

export const pinNew = (run: ActiveRun, given: StartGiven): Pinned => {
  const { engine } = run
  const { snapshot, policy } = given
  if (!isGenuine(snapshot)) throw badRequest("snapshot", "a snapshot as its builder made it")
  if (policy !== undefined) engine.ownPolicies.set(given.runId, policy)
  const { problem } = planOf(engine, snapshot).environment
  if (problem !== undefined) throw badRequest("snapshot/plugins", `plugins that can serve it here: ${problem}`)
  const metadata = policy === undefined ? given.metadata : { ...given.metadata, [policyName]: policy.id }
  const record: Mutable<Run.RunRecord> = {
    runId: given.runId,
    threadId: run.threadId,
    principal: given.principal,
    snapshotFingerprint: snapshot.fingerprint,
    narrowing: given.narrowing,
    startedAt: engine.clock.now()
  }
  if (given.parent !== undefined) record.parent = given.parent
  if (metadata !== undefined && Object.keys(metadata).length > 0) record.metadata = metadata
  noteRefused(run, snapshot)
  return pin(run, { record, snapshot, policy })
}

/** What the model cannot be shown is told with the start of the run. It costs that tool only. */
const noteRefused = (run: ActiveRun, { model, tools }: Snapshot): void => {
  const { llm } = run.engine
  if (llm.refused === undefined) return
  for (const { toolId, pointer, reason } of llm.refused(model, tools))
    run.notes.push({ type: "ToolRefused", toolId, pointer, reason })
}

export const pinFound = (
  run: ActiveRun,
  { record, snapshot }: { readonly record: Run.RunRecord; readonly snapshot: Snapshot }
): Pinned => {
  if (!isGenuine(snapshot) || record.snapshotFingerprint !== snapshot.fingerprint)
    throw new RunError({
      reason: { _tag: "Unreadable", position: `snapshot ${record.snapshotFingerprint}` },
      message: "the stored snapshot is not what its fingerprint says",
      threadId: record.threadId,
      runId: record.runId
    })
  return pin(run, { record, snapshot, policy: policyOf(run.engine, record) })
}

const pin = (run: ActiveRun, given: Pick<Pinned, "record" | "snapshot" | "policy">): Pinned => {
  const { engine } = run
  const pinned: Pinned = {
    // It stands in a fact and names the principal: nobody who listens may change it.
    record: Jsons.freezeOpen(given.record),
    snapshot: given.snapshot,
    policy: given.policy,
    plan: planOf(engine, given.snapshot),
    gates: gatesOf(engine, given),
    limits: lowered(given.snapshot.limits, engine.ceilings)
  }
  run.pin(pinned)
  return pinned
}

/** A gate that its run named, and that is not here, blocks (P1). */
export const policyOf = (
  engine: Engine,
  { metadata, runId }: Run.RunRecord
): PermissionGate.PermissionGate | undefined => {
  const id = metadata?.[policyName]
  if (id === undefined) return undefined
  const known = engine.ownPolicies.get(runId) ?? (typeof id === "string" ? engine.policies.get(id) : undefined)
  return known ?? missingPolicy
}

const missingPolicy: PermissionGate.PermissionGate = Object.freeze({
  id: "missing-policy",
  decide: () => GateOutcome.block("the policy of this run cannot be read"),
  denies: () => "the policy of this run cannot be read"
})

const genuine = new WeakSet<Snapshot>()

/** Recomputed once for a frozen object: then its content cannot become another. */
const isGenuine = (snapshot: Snapshot): boolean => {
  if (genuine.has(snapshot)) return true
  try {
    if (!ExecutableAgentSnapshot.isGenuine(snapshot)) return false
  } catch {
    // No snapshot at all.
    return false
  }
  if (Object.isFrozen(snapshot)) genuine.add(snapshot)
  return true
}

const lowered = (
  limits: ExecutableAgentSnapshot.RunLimits,
  ceilings: Partial<ExecutableAgentSnapshot.RunLimits>
): ExecutableAgentSnapshot.RunLimits => {
  let result = limits
  for (const [name, ceiling] of entriesOf(ceilings)) {
    const own = limits[name]
    if (ceiling !== undefined && (own === undefined || ceiling < own)) result = { ...result, [name]: ceiling }
  }
  return result
}

const entriesOf = (
  ceilings: Partial<ExecutableAgentSnapshot.RunLimits>
): ReadonlyArray<readonly [keyof ExecutableAgentSnapshot.RunLimits, number | undefined]> =>
  // The keys were checked when the runtime was made.
  Object.entries(ceilings) as unknown as ReadonlyArray<
    readonly [keyof ExecutableAgentSnapshot.RunLimits, number | undefined]
  >
