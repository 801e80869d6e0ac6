import { describe, expect, it } from "vitest"
import type { WaitKind } from "../src/ResumeTicket.js"
import {
  type BatchCall,
  type CallEvent,
  digestOf as realDigestOf,
  isIntact,
  isSound,
  maySucceed,
  sealing,
  type ToolBatch,
  transition,
  unstarted
} from "../src/ToolBatch.js"
import { Parallel, Serial } from "../src/ToolConcurrency.js"
import { call, digestOf, entered, output, phases } from "./kernelWorld.js"

const replaying = { mode: "ReplaySafe", maxAttempts: 2 } as const

/** Every phase, with every detail that a transition looks at. */
const rows: Readonly<Record<string, BatchCall>> = {
  Requested: call(),
  "Awaiting Permission": call({ phase: phases.awaiting("Permission") }),
  "Awaiting Schedule": call({ phase: phases.awaiting("Schedule") }),
  "Awaiting Client": call({ phase: phases.awaiting("Client") }),
  "Awaiting Delegation": call({ phase: phases.awaiting("Delegation") }),
  "Awaiting Input": call({ phase: phases.awaiting("Input") }),
  "Awaiting Input, entered": entered(call({ phase: phases.awaiting("Input") })),
  Approved: call({ phase: phases.approved() }),
  "Executing 1, NeverReplay": entered(call({ phase: phases.executing() })),
  "Executing 1 of 2": entered(call({ phase: phases.executing(), recovery: replaying })),
  "Executing 2 of 2": entered(call({ phase: phases.executing(2), recovery: replaying }), 2),
  Completed: entered(call({ phase: phases.completed() })),
  NotRun: call({ phase: phases.notRun() }),
  Indeterminate: entered(call({ phase: phases.indeterminate() }))
}

const edited = { amount: 7 }
const waits: ReadonlyArray<WaitKind> = ["Permission", "Schedule", "Client", "Delegation", "Input", "Pause"]

const columns: Readonly<Record<string, CallEvent>> = {
  ...Object.fromEntries(waits.map((wait) => [`Wait ${wait}`, { _tag: "Wait", ticketId: "ticket", wait } as const])),
  Approve: { _tag: "Approve", ticketId: "ticket", digest: digestOf({ amount: 0 }), by: ["ada"] },
  Edit: { _tag: "Edit", ticketId: "ticket", arguments: edited, digest: digestOf(edited), claim: Parallel },
  "Edit by": {
    _tag: "Edit",
    ticketId: "ticket",
    arguments: edited,
    digest: digestOf(edited),
    claim: Parallel,
    by: ["ada"]
  },
  Enter: { _tag: "Enter", digest: digestOf({ amount: 0 }) },
  Complete: { _tag: "Complete", output: output(0) },
  "Complete ticket": { _tag: "Complete", output: output(0), ticketId: "ticket" },
  "Refuse Blocked": { _tag: "Refuse", reason: "Blocked", output: output(0) },
  "Refuse Unavailable": { _tag: "Refuse", reason: "Unavailable", output: output(0) },
  "Refuse Denied ticket": { _tag: "Refuse", reason: "Denied", output: output(0), ticketId: "ticket" },
  Lose: { _tag: "Lose", reason: "ProcessLost", output: output(0) }
}

/** What follows, in the order of `columns`; `-` is illegal. R, W, A, E, C, N, I: the phase, and for E its attempt. */
const table = `
                          Wait Permission | Wait Schedule | Wait Client | Wait Delegation | Wait Input | Wait Pause | Approve | Edit | Edit by | Enter | Complete | Complete ticket | Refuse Blocked | Refuse Unavailable | Refuse Denied ticket | Lose
Requested               | W | W | W | W | W | - | - | - | - | E1 | C | - | N | N | N | -
Awaiting Permission     | - | - | - | - | - | - | A | R | A | -  | - | - | N | N | N | -
Awaiting Schedule       | - | - | - | - | - | - | A | - | - | -  | - | - | N | N | N | -
Awaiting Client         | - | - | - | - | - | - | - | - | - | -  | - | C | - | - | N | I
Awaiting Delegation     | - | - | - | - | - | - | - | - | - | -  | - | C | - | - | - | I
Awaiting Input          | - | - | - | - | - | - | - | - | - | -  | - | C | N | N | N | -
Awaiting Input, entered | - | - | - | - | - | - | - | - | - | -  | - | C | - | - | - | I
Approved                | - | - | W | W | W | - | - | - | - | E1 | - | - | N | N | N | -
Executing 1, NeverReplay| - | - | - | W | W | - | - | - | - | -  | C | C | - | N | - | I
Executing 1 of 2        | - | - | - | W | W | - | - | - | - | E2 | C | C | - | N | - | I
Executing 2 of 2        | - | - | - | W | W | - | - | - | - | -  | C | C | - | - | - | I
Completed               | - | - | - | - | - | - | - | - | - | -  | - | - | - | - | - | -
NotRun                  | - | - | - | - | - | - | - | - | - | -  | - | - | - | - | - | -
Indeterminate           | - | - | - | - | - | - | - | - | - | -  | - | - | - | - | - | -
`

const letters: Readonly<Record<string, string>> = {
  Requested: "R",
  Awaiting: "W",
  Approved: "A",
  Completed: "C",
  NotRun: "N",
  Indeterminate: "I"
}

const letterOf = ({ attempts, phase }: BatchCall): string => letters[phase._tag] ?? `E${attempts}`

const expected = table
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split("|").map((cell) => cell.trim()))

const pairs = Object.entries(rows).flatMap(([from, before]) =>
  Object.entries(columns).map(([name, event]) => ({ from, before, name, event }))
)

describe("one table of transitions", () => {
  it("[R6] every phase meets every event as the table says", () => {
    const received = Object.entries(rows).map(([from, before]) => [
      from,
      ...Object.values(columns).map((event) => {
        const result = transition(before, event)
        return result.ok ? letterOf(result.call) : "-"
      })
    ])
    expect(received).toEqual(expected)
  })

  it("[R6] a transition that is not there says which, and changes nothing", () => {
    const before = call({ phase: phases.completed() })
    const frozen = structuredClone(before)
    expect(transition(before, { _tag: "Enter", digest: before.digest })).toEqual({
      ok: false,
      illegal: {
        _tag: "IllegalTransition",
        operationId: "run/1/0",
        from: "Completed",
        event: "Enter",
        rule: "only a requested, approved or lost running call is entered"
      }
    })
    expect(before).toEqual(frozen)
  })

  it("[R6] every call that a transition gives is sound", () => {
    const unsound = pairs.filter(({ before, event }) => {
      const result = transition(before, event)
      return result.ok && !isSound(result.call)
    })
    expect(unsound).toEqual([])
  })

  it("[R2] an operation is entered with one digest only", () => {
    const lost = entered(call({ phase: phases.executing(), recovery: replaying }))
    expect(transition(lost, { _tag: "Enter", digest: "another" })).toMatchObject({
      illegal: { rule: "what runs is what was decided on" }
    })
    const swapped = { ...lost, digest: "another" }
    expect(transition(swapped, { _tag: "Enter", digest: "another" })).toMatchObject({
      illegal: { rule: "an operation is entered with one digest only" }
    })
    expect(isSound(swapped)).toBe(false)
  })

  it("[R2, H4] an edit is a new proposal for the same operation", () => {
    const before = call({ phase: phases.awaiting("Permission") })
    expect(
      transition(before, {
        _tag: "Edit",
        ticketId: "ticket",
        arguments: edited,
        digest: digestOf(edited),
        claim: Serial
      })
    ).toEqual({
      ok: true,
      call: { ...call(), arguments: edited, digest: digestOf(edited), proposal: 1, claim: Serial }
    })
  })

  it("[H4] an edit that the gates want nothing more for is approved by its editor", () => {
    const before = call({ phase: phases.awaiting("Permission") })
    const edit = columns["Edit by"]!
    expect(transition(before, edit)).toMatchObject({
      call: { phase: { _tag: "Approved", digest: digestOf(edited), by: ["ada"] }, proposal: 1 }
    })
  })

  it("[H3] an answer for another ticket or other arguments moves nothing", () => {
    const asked = call({ phase: phases.awaiting("Permission", "mine") })
    const client = call({ phase: phases.awaiting("Client", "mine") })
    const rules = [
      transition(asked, columns["Approve"]!),
      transition(asked, columns["Edit"]!),
      transition(client, columns["Complete ticket"]!),
      transition(client, columns["Refuse Denied ticket"]!),
      transition(asked, { _tag: "Approve", ticketId: "mine", digest: "another", by: [] })
    ].map((result) => (result.ok ? "moved" : result.illegal.rule))
    expect(rules).toEqual([
      "the approval is for another ticket",
      "the edit is for another ticket",
      "only a running call, a set result or a matching answer completes",
      "what was handed out may have happened",
      "the approval is for other arguments"
    ])
  })

  it("[E1] the output of another call completes nothing", () => {
    const running = entered(call({ phase: phases.executing() }))
    const foreign = output(5)
    const events: ReadonlyArray<CallEvent> = [
      { _tag: "Complete", output: foreign },
      { _tag: "Refuse", reason: "Unavailable", output: foreign },
      { _tag: "Lose", reason: "ProcessLost", output: foreign }
    ]
    expect(events.map((event) => transition(running, event).ok)).toEqual([false, false, false])
  })

  it("[R9] the end of a run makes unknown only what may have happened", () => {
    const sealed = Object.fromEntries(
      Object.entries(rows)
        .filter(([, { phase }]) => !("output" in phase))
        .map(([name, one]) => [name, sealing(one)])
    )
    expect(sealed).toEqual({
      Requested: "NotRun",
      "Awaiting Permission": "NotRun",
      "Awaiting Schedule": "NotRun",
      "Awaiting Client": "Indeterminate",
      "Awaiting Delegation": "Indeterminate",
      "Awaiting Input": "NotRun",
      "Awaiting Input, entered": "Indeterminate",
      Approved: "NotRun",
      "Executing 1, NeverReplay": "Indeterminate",
      "Executing 1 of 2": "Indeterminate",
      "Executing 2 of 2": "Indeterminate"
    })
  })

  it("[R9] what the end of a run makes of a call is a transition of the table", () => {
    for (const [name, before] of Object.entries(rows)) {
      if ("output" in before.phase) continue
      const event = sealing(before) === "NotRun" ? columns["Refuse Blocked"]! : columns["Lose"]!
      expect([name, transition(before, event).ok]).toEqual([name, true])
    }
  })
})

describe("what may be stored", () => {
  /** The events that one commit may put behind one another; everything else needs a commit in between. */
  const chains: ReadonlyArray<ReadonlyArray<CallEvent>> = [
    ...Object.values(columns).map((event) => [event]),
    ...["Edit"].flatMap((first) =>
      ["Wait Permission", "Wait Schedule", "Complete", "Refuse Blocked"].map((second) => {
        const next = columns[second]!
        return [columns[first]!, next._tag === "Wait" ? { ...next, ticketId: "next" } : next]
      })
    )
  ]

  const after = (before: BatchCall, chain: ReadonlyArray<CallEvent>): BatchCall | undefined => {
    let current = before
    for (const event of chain) {
      const result = transition(current, event)
      if (!result.ok) return undefined
      current = result.call
    }
    return current
  }

  it("[R6] whatever the kernel gives may be stored", () => {
    const refused = Object.entries(rows).flatMap(([name, before]) =>
      chains.flatMap((chain) => {
        const next = after(before, chain)
        return next === undefined || maySucceed(before, next) ? [] : [[name, ...chain.map((event) => event._tag)]]
      })
    )
    expect(refused).toEqual([])
  })

  it("[R6, R7] nothing else may be stored: what follows which, without an edit in between", () => {
    // An outcome keeps the attempts of the call that it ends.
    const asEndOf = (before: BatchCall, after: BatchCall): BatchCall => {
      const { entered: _, ...rest } = { ...after, recovery: before.recovery }
      if (!("output" in after.phase)) return { ...after, recovery: before.recovery }
      const digest = before.entered === undefined ? {} : { entered: before.entered }
      return { ...rest, attempts: before.attempts, ...digest }
    }
    const following = Object.fromEntries(
      Object.entries(rows).map(([name, before]) => [
        name,
        Object.entries(rows)
          .filter(([, after]) => maySucceed(before, asEndOf(before, after)))
          .map(([other]) => other)
          .join(", ")
      ])
    )
    const waiting = "Awaiting Client, Awaiting Delegation, Awaiting Input"
    const entering = "Executing 1, NeverReplay, Executing 1 of 2"
    expect(following).toEqual({
      Requested: `Awaiting Permission, Awaiting Schedule, ${waiting}, ${entering}, Completed, NotRun`,
      "Awaiting Permission": "Approved, NotRun",
      "Awaiting Schedule": "Approved, NotRun",
      "Awaiting Client": "Completed, NotRun, Indeterminate",
      "Awaiting Delegation": "Completed, Indeterminate",
      "Awaiting Input": "Completed, NotRun",
      "Awaiting Input, entered": "Completed, Indeterminate",
      Approved: `${waiting}, ${entering}, NotRun`,
      "Executing 1, NeverReplay": "Awaiting Input, entered, Completed, Indeterminate",
      "Executing 1 of 2": "Awaiting Input, entered, Executing 2 of 2, Completed, Indeterminate",
      "Executing 2 of 2": "Completed, Indeterminate",
      Completed: "",
      NotRun: "",
      Indeterminate: ""
    })
  })

  it("[H4] an edited call waits anew under another ticket, and only for a decision", () => {
    const waiting = call({ phase: phases.awaiting("Permission") })
    const proposed = { ...call(), arguments: edited, digest: digestOf(edited), proposal: 1 }
    const after = [
      phases.awaiting("Permission", "next"),
      phases.awaiting("Schedule", "next"),
      phases.awaiting("Permission"),
      phases.awaiting("Client", "next"),
      phases.awaiting("Input", "next")
    ].map((phase) => maySucceed(waiting, { ...proposed, phase }))
    expect(after).toEqual([true, true, false, false, false])
  })

  it("[R6] an entry is stored before it happens: no outcome of an entry that no commit announced", () => {
    const requested = call()
    expect(maySucceed(requested, entered(call({ phase: phases.completed() })))).toBe(false)
    expect(maySucceed(requested, entered(call({ phase: phases.indeterminate() })))).toBe(false)
    expect(maySucceed(requested, entered(call({ phase: phases.executing() })))).toBe(true)
  })

  it("[H4] an approval is stored before what it allows", () => {
    const waiting = call({ phase: phases.awaiting("Permission") })
    expect(maySucceed(waiting, entered(call({ phase: phases.executing() })))).toBe(false)
    expect(maySucceed(waiting, call({ phase: phases.approved() }))).toBe(true)
  })

  it("[R2] who a call is, what it runs and what it was entered with never changes by itself", () => {
    const before = entered(call({ phase: phases.executing(), recovery: replaying }))
    const next = { ...before, phase: phases.completed() }
    const changes: ReadonlyArray<Partial<BatchCall>> = [
      { operationId: "run/1/9" },
      { position: 1 },
      { callId: "other" },
      { toolId: "other" },
      { recovery: { mode: "Idempotent", maxAttempts: 2 } },
      { recovery: { mode: "ReplaySafe", maxAttempts: 9 } },
      { proposal: 1 },
      { digest: "other", entered: "other" },
      { entered: "other" },
      { claim: Serial },
      { attempts: 2 },
      { attempts: 0 }
    ]
    expect(maySucceed(before, next)).toBe(true)
    expect(changes.map((change) => maySucceed(before, { ...next, ...change }))).toEqual(changes.map(() => false))
  })

  it("[R6, R11] a stored call that contradicts itself is not sound", () => {
    const unsound: ReadonlyArray<BatchCall> = [
      call({ attempts: 1 }),
      call({ entered: digestOf({ amount: 0 }) }),
      call({ attempts: -1 }),
      call({ attempts: 0.5 }),
      call({ proposal: -1 }),
      call({ recovery: { mode: "ReplaySafe", maxAttempts: 0 } }),
      call({ recovery: { mode: "ReplaySafe", maxAttempts: 1.5 } }),
      entered(call()),
      entered(call({ phase: phases.executing(2) }), 2),
      entered(call({ phase: phases.executing(1), recovery: replaying }), 2),
      call({ phase: phases.executing(0) }),
      { ...entered(call({ phase: phases.executing() })), entered: "other" },
      call({ phase: { _tag: "Approved", digest: "other", by: [] } }),
      entered(call({ phase: phases.approved() })),
      call({ phase: phases.awaiting("Permission", "") }),
      call({ phase: phases.awaiting("Pause") }),
      entered(call({ phase: phases.awaiting("Permission") })),
      entered(call({ phase: phases.awaiting("Client") })),
      entered(call({ phase: phases.notRun() })),
      call({ phase: phases.completed(3) }),
      call({ phase: phases.notRun(3) }),
      call({ phase: phases.indeterminate(3) })
    ]
    expect(unsound.map(isSound)).toEqual(unsound.map(() => false))
    expect(Object.values(rows).map(isSound)).toEqual(Object.values(rows).map(() => true))
  })

  it("[R6] a call before anything happened to it is the requested one", () => {
    expect(unstarted(entered(call({ phase: phases.executing() })))).toEqual(call())
  })

  it("[R11, R2] an open batch that was read back is intact only with its own ids, places and digests", () => {
    const intact = [0, 1].map((position) => {
      const args = { amount: position }
      return call({ position, arguments: args, digest: realDigestOf(args) })
    })
    const batch = (calls: ReadonlyArray<BatchCall>): ToolBatch => ({ runId: "run", step: 1, calls })
    const [first, second] = [intact[0]!, intact[1]!]
    const damaged: ReadonlyArray<ToolBatch> = [
      batch([]),
      batch([second, first]),
      batch([first, { ...second, callId: first.callId }]),
      batch([first, { ...second, operationId: first.operationId }]),
      batch([first, { ...second, arguments: { amount: 1_000_000 } }]),
      batch([first, { ...second, digest: first.digest }]),
      batch([first, { ...second, attempts: 7 }]),
      { ...batch(intact), runId: "other" },
      { ...batch(intact), step: 2 },
      { ...batch(intact), step: 0.5 }
    ]
    expect(isIntact(batch(intact))).toBe(true)
    expect(damaged.map(isIntact)).toEqual(damaged.map(() => false))
  })
})
