/**
 * Child runs as their parents' calls and the callers of the runtime see them (L9).
 *
 * Guarantees: the same operation has the same child, started once; a child acts for the principal of its parent, is
 * narrowed at least as far, and is judged by the gates of both; outcomes of a parent show the open tickets of its children.
 * Does not commit anything itself.
 */
import type { ExecutableAgentSnapshot, GateOutcome, Json, ResumeTicket } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { badRequest, RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { ActiveRun } from "./activeRun.js"
import { boundedLoad } from "./bounded.js"
import { childRunOf, childThreadOf } from "./delegations.js"
import type { ChildGiven, Engine } from "./engine.js"
import { launch } from "./launch.js"
import { outcomeOfView } from "./outcomeOfView.js"
import { depthName, inheritedName, inheritedOf, type StartGiven } from "./pinning.js"
import { awaitRun, continueThread, foundOutcome } from "./starts.js"

/** Finds the child of a call and goes on with it, or starts it. */
export const driveChild = Effect.fnUntraced(function* (parent: ActiveRun, given: ChildGiven) {
  const { engine } = parent
  const threadId = childThreadOf(given.call.operationId)
  if (engine.active.has(threadId)) return yield* continueThread(engine, { threadId })
  const view = yield* load(engine, threadId)
  if (view?.disposition?._tag === "Ended") return outcomeOfView(view)
  if (view?.run !== undefined) return yield* continueThread(engine, { threadId })
  const job = yield* Effect.try({
    try: () => ({ _tag: "Start" as const, given: startOf(parent, given) }),
    catch: (error) => (error instanceof RunError ? error : badRequest("snapshot", "a snapshot that can run here"))
  })
  const run = yield* Effect.try({
    try: () => launch(engine, { threadId, job, listeners: [] }),
    catch: (error) => (error instanceof RunError ? error : badRequest("snapshot", "a snapshot that can run here"))
  })
  return yield* awaitRun(run)
})

const load = (engine: Engine, threadId: string) =>
  Effect.catchTag(boundedLoad(engine, threadId), "TicketRefused", Effect.die)

const startOf = (parent: ActiveRun, { call, delegated, input }: ChildGiven): StartGiven => {
  const { record, snapshot, policy } = parent.pinned
  const before = record.metadata?.[depthName]
  const depth = (typeof before === "number" ? before : 0) + 1
  if (depth > delegated.maxDepth) throw badRequest("delegation", `children at most ${delegated.maxDepth} deep`)
  const inherited = [...inheritedOf(record), ...snapshot.plugins]
  return {
    runId: childRunOf(call.operationId),
    snapshot: delegated.snapshot,
    input: [{ type: "text", text: input }],
    principal: record.principal,
    narrowing: narrower(record.narrowing, delegated.narrowing),
    policy,
    metadata: { [depthName]: depth, ...(inherited.length === 0 ? {} : { [inheritedName]: inherited.map(plainOf) }) },
    parent: { runId: parent.runId, threadId: parent.threadId, operationId: call.operationId }
  }
}

const plainOf = ({
  id,
  configuration
}: ExecutableAgentSnapshot.ExecutableAgentSnapshot["plugins"][number]): Json.JsonObject =>
  configuration === undefined ? { id } : { id, configuration }

const order: Readonly<Record<GateOutcome.RunNarrowing, number>> = { Configured: 0, Unattended: 1, DenyAll: 2 }

const narrower = (left: GateOutcome.RunNarrowing, right: GateOutcome.RunNarrowing): GateOutcome.RunNarrowing =>
  order[right] > order[left] ? right : left

/**
 * What a drive of a child means for whoever asked for it: a child that has ended lets its parent go on, and the outcome is
 * that of the outermost run; of a run that waits, the tickets are those that people can answer.
 */
export const climb = (engine: Engine, outcome: RunOutcome): Effect.Effect<RunOutcome, RunError> => {
  const { parent } = outcome
  if (parent === undefined) return withInnerTickets(engine, outcome)
  const { threadId } = parent
  const driven =
    outcome.disposition._tag === "Ended"
      ? Effect.catchTag(continueThread(engine, { threadId }), "RunError", (error) =>
          error.reason._tag === "ThreadBusy" ? foundOutcome(engine, threadId) : Effect.fail(error)
        )
      : foundOutcome(engine, threadId)
  return Effect.flatMap(driven, (above) => climb(engine, above))
}

/** A delegation is answered by its child: its ticket gives way to the child's own. */
export const withInnerTickets = (engine: Engine, outcome: RunOutcome): Effect.Effect<RunOutcome, RunError> => {
  if (!outcome.tickets.some(({ kind }) => kind === "Delegation")) return Effect.succeed(outcome)
  return Effect.map(Effect.all(outcome.tickets.map((ticket) => innerOf(engine, ticket))), (tickets) => ({
    ...outcome,
    tickets: tickets.flat()
  }))
}

const innerOf = (
  engine: Engine,
  ticket: ResumeTicket.ResumeTicket
): Effect.Effect<ReadonlyArray<ResumeTicket.ResumeTicket>, RunError> => {
  if (ticket.kind !== "Delegation") return Effect.succeed([ticket])
  const child = Effect.flatMap(foundOutcome(engine, childThreadOf(ticket.operationId)), (found) =>
    withInnerTickets(engine, found)
  )
  return Effect.map(child, ({ tickets }) => (tickets.length === 0 ? [ticket] : tickets))
}
