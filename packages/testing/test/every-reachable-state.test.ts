import { ResumeTicket, Run, StoreRules, ThreadFold, type ToolBatch } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { explore, type Kernel, productionKernel, type Scenario, type ScenarioCall, scenarios } from "../src/index.js"

const never = (kind: ScenarioCall["kind"], claim?: ScenarioCall["claim"]): ScenarioCall => ({
  kind,
  mode: "NeverReplay",
  ...(claim === undefined ? {} : { claim })
})

const replay = (kind: ScenarioCall["kind"], claim?: ScenarioCall["claim"]): ScenarioCall => ({
  ...never(kind, claim),
  mode: "ReplaySafe"
})

describe("every reachable state", () => {
  it("[R6, R8] of one call, in every mode and kind, breaks nothing and comes out in every way it can", () => {
    const found = explore({ scenarios: scenarios(1) })
    expect(found.violations).toEqual([])
    expect(found.states).toBeGreaterThan(20_000)
    expect(found.outcomes.filter((outcome) => outcome.includes("ReplaySafe"))).toEqual([
      "allow ReplaySafe Completed",
      "allow ReplaySafe Indeterminate",
      "allow ReplaySafe NotRun",
      "ask ReplaySafe Completed",
      "ask ReplaySafe Indeterminate",
      "ask ReplaySafe NotRun",
      "askClient ReplaySafe Completed",
      "askClient ReplaySafe Indeterminate",
      "askClient ReplaySafe NotRun",
      "block ReplaySafe NotRun",
      "client ReplaySafe Completed",
      "client ReplaySafe Indeterminate",
      "client ReplaySafe NotRun",
      "delegate ReplaySafe Completed",
      "delegate ReplaySafe Indeterminate",
      "delegate ReplaySafe NotRun",
      "input ReplaySafe Completed",
      "input ReplaySafe NotRun",
      "set ReplaySafe Completed"
    ])
  })

  it("[R6, R7, C2] of two calls that conflict or not, and of three, breaks nothing", () => {
    const some: ReadonlyArray<Scenario> = [
      { calls: [never("ask"), replay("allow")] },
      { calls: [never("ask", "serial"), never("allow", "serial")], facts: true, edits: true },
      { calls: [replay("client", "write"), never("ask", "read")], settles: true },
      { calls: [replay("allow"), replay("allow")], width: 1 },
      { calls: [never("allow"), never("ask"), replay("allow")] },
      { calls: [never("ask", "serial"), replay("ask", "serial"), never("allow", "serial")] }
    ]
    const found = explore({ scenarios: some })
    expect(found.violations).toEqual([])
    expect(found.states).toBeGreaterThan(20_000)
  })

  it("[R6] a state that stands for its permutations hides nothing: walked one by one, the same comes out", () => {
    const alike = explore({ scenarios: [{ calls: [replay("ask"), replay("ask")] }] })
    // Two readers do not conflict either, but are not taken for interchangeable.
    const apart = explore({ scenarios: [{ calls: [replay("ask", "read"), replay("ask", "read")] }] })
    expect(apart.outcomes).toEqual(alike.outcomes)
    expect([alike.violations, apart.violations]).toEqual([[], []])
    expect(apart.states).toBeGreaterThan(alike.states)
    expect(apart.states).toBeLessThanOrEqual(2 * alike.states)
  })

  it("[R6] the scenarios are those of one, two and three calls", () => {
    expect([1, 2, 3].map((calls) => scenarios(calls as 1 | 2 | 3).length)).toEqual([48, 151, 251])
  })
})

/** Each breaks one promise of the kernel; the explorer must see what comes of it. */
const broken: Readonly<Record<string, readonly [kernel: Partial<Kernel>, what: string, on?: Scenario]>> = {
  "replays what must not be replayed": [
    {
      recover: (call, facts) =>
        call.phase._tag === "Executing" ? { _tag: "Reenter" } : productionKernel.recover(call, facts)
    },
    "the kernel has no Enter from Executing: NeverReplay is entered at most once"
  ],
  "enters NeverReplay a second time": [
    {
      recover: () => ({ _tag: "Reenter" }),
      transition: (call, event) => (event._tag === "Enter" ? entering(call) : productionKernel.transition(call, event)),
      refusalOfCommit: lenient()
    },
    "call 0 is NeverReplay and is entered twice"
  ],
  "enters an attempt twice": [
    {
      recover: () => ({ _tag: "Reenter" }),
      transition: (call, event) =>
        event._tag === "Enter"
          ? { ok: true, call: { ...entering(call).call, attempts: 1, phase: { _tag: "Executing", attempt: 1 } } }
          : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "attempt 1 of call 0 is entered twice"
  ],
  "spends more attempts than it has": [
    {
      recover: (call, facts) =>
        call.phase._tag === "Executing" ? { _tag: "Reenter" } : productionKernel.recover(call, facts),
      transition: (call, event) =>
        event._tag === "Enter" && call.attempts < 4 ? entering(call) : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "call 0 has 3 attempts of 2",
    { calls: [replay("allow")] }
  ],
  "runs what was not approved": [
    {
      transition: (call, event) =>
        event._tag === "Wait" ? { ok: true, call } : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "call 0 is entered without its approval",
    { calls: [never("ask")] }
  ],
  "tells what never started as possibly happened": [
    {
      sealing: () => "Indeterminate",
      transition: (call, event) =>
        event._tag === "Lose"
          ? {
              ok: true,
              call: { ...call, phase: { _tag: "Indeterminate", reason: event.reason, output: event.output } }
            }
          : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "call 0 never started and is told as possibly happened",
    { calls: [never("ask")] }
  ],
  "tells what ran as not run": [
    {
      sealing: () => "NotRun",
      transition: (call, event) =>
        event._tag === "Refuse"
          ? { ok: true, call: { ...call, phase: { _tag: "NotRun", reason: event.reason, output: event.output } } }
          : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "call 0 ran and is told as not run"
  ],
  "changes the arguments of an operation that was entered": [
    {
      recover: () => ({ _tag: "Reenter" }),
      transition: (call, event) =>
        event._tag === "Enter"
          ? { ok: true, call: { ...entering(call).call, digest: `${call.attempts}`, entered: `${call.attempts}` } }
          : productionKernel.transition(call, event),
      refusalOfCommit: lenient()
    },
    "call 0 is entered with two digests",
    { calls: [replay("allow")] }
  ],
  "lets a terminal call change": [
    {
      plan: (batch, options) => ({
        ...productionKernel.plan(batch, options),
        start: batch.calls[1]?.phase._tag === "Approved" ? batch.calls.slice(0, 1) : []
      }),
      transition: (call, event) => (event._tag === "Enter" ? entering(call) : productionKernel.transition(call, event)),
      refusalOfCommit: lenient()
    },
    "call 0 was terminal and changed",
    { calls: [never("set"), never("ask")] }
  ],
  "starts calls that conflict": [
    {
      plan: (batch, options) => ({
        ...productionKernel.plan(batch, options),
        start: batch.calls.filter((call) => call.phase._tag === "Requested" && options.ready(call))
      })
    },
    "call 1 overtakes call 0",
    { calls: [never("allow", "serial"), never("allow", "serial")] }
  ],
  "runs behind an outcome that nobody knows": [
    {
      plan: (batch, options) => {
        const known = batch.calls.map((call) =>
          call.phase._tag === "Indeterminate" ? { ...call, phase: { ...call.phase, _tag: "Completed" as const } } : call
        )
        return productionKernel.plan({ ...batch, calls: known }, options)
      }
    },
    "call 1 runs behind an outcome that nobody knows",
    { calls: [never("allow", "serial"), never("allow", "serial")] }
  ],
  "runs more than its width": [
    { plan: (batch, options) => productionKernel.plan(batch, { ...options, width: 9 }) },
    "2 calls run at once",
    { calls: [never("allow"), never("allow")], width: 1 }
  ],
  "waits where it can run": [
    {
      plan: (batch, options) => ({ ...productionKernel.plan(batch, options), start: [] })
    },
    "the owner has nothing to do and nothing to wait for"
  ],
  "decides a ticket twice": [
    { decide: (state, given) => ResumeTicket.decide({ ticket: state.ticket, allowedBy: [] }, given) },
    "a ticket is decided twice",
    { calls: [never("ask")] }
  ],
  "does not fence": [
    {
      refusalOfCommit: (given, made) =>
        StoreRules.refusalOfCommit({ ...given, ownership: { ...given.ownership, epoch: made.epoch } }, made)
    },
    "a commit of a fenced owner is taken in"
  ],
  "lets a fenced owner go on": [
    { refusalOfRepeat: () => undefined },
    "a fenced owner that sends a commit again is told to go on"
  ],
  "does not answer an owner that lost a reply": [
    { refusalOfRepeat: () => ({ _tag: "LeaseLost" }) },
    "an owner that lost a reply is not answered when it asks again"
  ],
  "lets something follow an end": [{ refusalOfCommit: lenient() }, "a run that has ended is committed as Running"],
  "lets an ended run be cancelled": [{ refusalOfSignal: () => undefined }, "a run that has ended can be cancelled"],
  "publishes twice": [
    {
      apply: (view, made) => {
        const after = productionKernel.apply(view, made)
        return made.batch?._tag === "Publish" ? { ...after, batch: view.batch } : after
      },
      refusalOfCommit: lenient()
    },
    "the transcript holds the results run/1/0 where  belong"
  ],
  "publishes out of order": [
    {
      apply: (view, made) => {
        const fold = ThreadFold.from(
          made.batch?._tag === "Publish" && view.batch !== undefined
            ? { ...view, batch: { ...view.batch, calls: view.batch.calls.toReversed() } }
            : view
        )
        fold.apply(made)
        return fold.view(1)
      }
    },
    "the transcript holds the results run/1/1,run/1/0 where run/1/0,run/1/1 belong",
    { calls: [never("block"), never("block")] }
  ],
  "ends with calls that have no result": [
    {
      apply: (view, made) =>
        productionKernel.apply(view, {
          ...made,
          disposition: made.step === 0 ? made.disposition : Run.Ended({ _tag: "Cancelled" })
        }),
      refusalOfCommit: lenient()
    },
    "a run ended with calls that have no result"
  ],
  "tells the replaying modes apart": [
    {
      recover: (call, facts) =>
        call.recovery.mode === "Idempotent" ? { _tag: "Keep" } : productionKernel.recover(call, facts)
    },
    "the modes that may replay differ at attempt 1"
  ]
}

/** Admits whatever fits revision and epoch. */
function lenient(): Kernel["refusalOfCommit"] {
  return (given, made) => {
    const refusal = StoreRules.refusalOfCommit(given, made)
    return refusal?._tag === "Rejected" ? undefined : refusal
  }
}

/** Every end of a call is another entry. */
function endless(call: ToolBatch.BatchCall, event: ToolBatch.CallEvent): ToolBatch.Transition {
  return event._tag === "Lose" || event._tag === "Complete" ? entering(call) : productionKernel.transition(call, event)
}

/** An entry without any rule. */
function entering(call: ToolBatch.BatchCall): { readonly ok: true; readonly call: ToolBatch.BatchCall } {
  const attempt = call.attempts + 1
  return {
    ok: true,
    call: { ...call, attempts: attempt, entered: call.digest, phase: { _tag: "Executing", attempt } }
  }
}

describe("the explorer sees a kernel that is broken", () => {
  for (const [name, [kernel, what, on]] of Object.entries(broken))
    it(`[R6] a kernel that ${name}`, () => {
      const found = explore({
        scenarios: [on ?? { calls: [never("allow")] }],
        kernel: { ...productionKernel, ...kernel },
        maxViolations: 50,
        maxStates: 5_000
      })
      expect(found.violations.map((violation) => violation.what)).toContain(what)
    })

  it("[R6] the way to a violation is told step by step", () => {
    const [kernel] = broken["lets a fenced owner go on"]!
    const [violation] = explore({
      scenarios: [{ calls: [never("allow")] }],
      kernel: { ...productionKernel, ...kernel }
    }).violations
    expect(violation).toEqual({
      what: "a fenced owner that sends a commit again is told to go on",
      scenario: { calls: [never("allow")] },
      path: ["start", "send open"]
    })
  })

  it("[R6] states without end are a violation", () => {
    const kernel = { ...productionKernel, refusalOfCommit: lenient(), transition: endless }
    const found = explore({ scenarios: [{ calls: [never("allow")] }], kernel, maxViolations: 50, maxStates: 500 })
    expect(found.violations.map((violation) => violation.what)).toContain("more than 500 states and no end in sight")
  })

  it("[R6] it stops behind as many violations as it was asked for", () => {
    const kernel = { ...productionKernel, refusalOfRepeat: () => undefined }
    const given = [{ calls: [never("allow")] }, { calls: [never("ask")] }]
    expect(explore({ scenarios: given, kernel, maxViolations: 1 }).violations).toHaveLength(1)
    expect(explore({ scenarios: given, kernel }).violations).toHaveLength(2)
  })
})
