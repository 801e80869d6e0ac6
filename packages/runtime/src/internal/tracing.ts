/**
 * Spans for the gate's decision, the wait for people and the work of a tool.
 *
 * Guarantees: named and attributed after OpenTelemetry's conventions for generative AI (`execute_tool`), with the tool's
 * attribution; made only where a tracer is installed, else one comparison; arguments and results are never in a span;
 * what a tracer throws is its own business.
 * Does not export: the tracer does.
 */
import type { Attribution, ResumeTicket, Run, ToolBatch } from "@toolwright/runtime-contract"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { AttributeValue, OpenSpan, RuntimeTracer } from "../RuntimeTracer.js"
import type { ActiveRun } from "./activeRun.js"
import type { Decision } from "./gating.js"
import type { Services } from "./settle.js"
import type { Installed } from "./snapshotPlan.js"

/** The tracer that somebody has installed in Effect's context; Effect's own default keeps spans for nobody. */
export const tracerOf = (services: Services): RuntimeTracer | undefined =>
  services.mapUnsafe.has(Tracer.Tracer.key) ? fromEffect(services) : undefined

const fromEffect = (services: Services): RuntimeTracer => {
  const tracer = Context.get(services, Tracer.Tracer)
  const parent = Option.fromUndefinedOr(Context.getOrUndefined(services, Tracer.ParentSpan))
  return {
    start: ({ name, startTime, attributes }) => {
      const span = tracer.span({
        name,
        parent,
        annotations: Context.empty(),
        links: [],
        startTime: nanos(startTime),
        kind: "internal",
        root: Option.isNone(parent),
        sampled: true
      })
      for (const [key, value] of Object.entries(attributes)) span.attribute(key, value)
      return {
        attribute: (...[key, value]) => span.attribute(key, value),
        end: (endTime) => span.end(nanos(endTime), Exit.void)
      }
    }
  }
}

const nanos = (milliseconds: number): bigint => BigInt(Math.round(milliseconds)) * 1_000_000n

type Attributes = Readonly<Record<string, AttributeValue | undefined>>

interface Spanning {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly attributes: Attributes
}

const begin = (run: ActiveRun, { name, from, attributes }: Spanning): OpenSpan | undefined =>
  quietly(() => run.engine.tracer?.start({ name, startTime: from, attributes: withoutGaps(attributes) }))

const withoutGaps = (attributes: Attributes): Readonly<Record<string, AttributeValue>> => {
  const known: Record<string, AttributeValue> = {}
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) known[key] = value
  return known
}

const end = (run: ActiveRun, span: OpenSpan | undefined): void => {
  if (span !== undefined) quietly(() => span.end(run.engine.clock.now()))
}

const quietly = <A>(act: () => A): A | undefined => {
  try {
    return act()
  } catch {
    // Whoever looks on cannot disturb the run.
    return undefined
  }
}

const ofCall = (
  run: ActiveRun,
  {
    call,
    attribution
  }: {
    readonly call: Pick<ToolBatch.BatchCall, "toolId" | "callId" | "operationId">
    readonly attribution?: Attribution.Attribution
  }
): Attributes => ({
  "gen_ai.tool.name": call.toolId,
  "gen_ai.tool.call.id": call.callId,
  "gen_ai.tool.type": "function",
  "gen_ai.conversation.id": run.threadId,
  "toolwright.run.id": run.runId,
  "toolwright.operation.id": call.operationId,
  "toolwright.tool.role": attribution?.role,
  "toolwright.tool.alias": attribution?.alias,
  "toolwright.tool.provenance": attribution?.provenance
})

/** The decision on one call: a moment, not a duration. */
export const traceGate = (
  run: ActiveRun,
  {
    call,
    decision,
    installed
  }: { readonly call: ToolBatch.BatchCall; readonly decision: Decision; readonly installed: Installed }
): void => {
  if (run.engine.tracer === undefined) return
  const { outcome, by } = decision
  const rule = outcome._tag === "RequireConfirmation" ? outcome.requirements[0]?.rule : outcome.rule
  const attributes = {
    ...ofCall(run, { call, attribution: installed.tool.attribution }),
    "toolwright.gate.outcome": outcome._tag,
    "toolwright.gate.by": by,
    "toolwright.gate.rule": rule,
    "toolwright.arguments.digest": call.digest
  }
  end(run, begin(run, { name: `gate ${call.toolId}`, from: run.engine.clock.now(), attributes }))
}

/** The wait behind a ticket, from its issue until somebody's answer was acted on. */
export const traceWait = (run: ActiveRun, { ticket, decision }: ResumeTicket.TicketState): void => {
  if (run.engine.tracer === undefined || decision === undefined) return
  const attributes = {
    ...ofWait(run, ticket),
    "toolwright.wait.decision": decision._tag,
    "toolwright.wait.expired": decision._tag === "Denied" ? decision.expired : undefined
  }
  end(run, begin(run, { name: `wait ${ticket.toolId}`, from: ticket.issuedAt, attributes }))
}

/** The wait for a child run, until its end was taken over. */
export const traceHandedOver = (
  run: ActiveRun,
  { ticketId, cause }: { readonly ticketId: string; readonly cause: Run.EndCause }
): void => {
  const ticket = run.fold.tickets.get(ticketId)?.ticket
  if (run.engine.tracer === undefined || ticket === undefined) return
  const attributes = { ...ofWait(run, ticket), "toolwright.wait.decision": cause._tag }
  end(run, begin(run, { name: `wait ${ticket.toolId}`, from: ticket.issuedAt, attributes }))
}

const ofWait = (run: ActiveRun, ticket: ResumeTicket.ResumeTicket): Attributes => ({
  ...ofCall(run, { call: ticket }),
  "toolwright.wait.kind": ticket.kind,
  "toolwright.wait.ticket": ticket.id
})

/** One attempt of a tool. The returned function ends it, once: with what the call came to first. */
export const traceTool = (
  run: ActiveRun,
  { call, installed }: { readonly call: ToolBatch.BatchCall; readonly installed: Installed }
): ((event: string) => void) | undefined => {
  if (run.engine.tracer === undefined) return undefined
  const attributes = {
    ...ofCall(run, { call, attribution: installed.tool.attribution }),
    "gen_ai.operation.name": "execute_tool",
    "toolwright.attempt": call.attempts
  }
  const span = begin(run, { name: `execute_tool ${call.toolId}`, from: run.engine.clock.now(), attributes })
  let isOver = false
  return (event) => {
    if (isOver) return
    isOver = true
    if (span !== undefined) quietly(() => span.attribute("toolwright.outcome", event))
    end(run, span)
  }
}
