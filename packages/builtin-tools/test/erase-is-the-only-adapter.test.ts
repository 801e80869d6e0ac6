import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type RawTool, StateKey, Tool, ToolConcurrency, ToolError, ToolOperation } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { describe, expect, it } from "vitest"
import { erase } from "../src/index.js"
import { callOf, invocation, operation, stateOf } from "./world.js"

const args = Type.Object({ city: Type.String() })
const Weather = Tool.define({ id: "get_weather", description: "Weather", args })
const visits = StateKey.make({ name: "visits", schema: Type.Integer({ minimum: 0 }) })
const secret = StateKey.make({ name: "secret", schema: Type.String() })

/** A foreign thenable that calls back twice. */
class Late implements PromiseLike<string> {
  // oxlint-disable-next-line unicorn/no-thenable -- a thenable is what is tested
  then<A, B>(next?: ((value: string) => A | PromiseLike<A>) | null): PromiseLike<A | B> {
    next?.("late")
    next?.("later")
    return new Promise<never>(() => {})
  }
}

const said = (text: string, isError = false): unknown => ({
  callId: "c1",
  content: [{ type: "text", text }],
  isError,
  state: []
})

const invoke = (tool: RawTool.RawTool, context = invocation().context): unknown =>
  tool.invoke(callOf(tool, { city: "Lisbon" }), context)

/** The output, whichever form it came in. */
const outcome = (given: () => unknown): unknown => {
  const returned = given()
  return Effect.isEffect(returned) ? Effect.runPromise(returned as Effect.Effect<unknown, unknown>) : returned
}

const reasonOf = async (given: () => unknown): Promise<unknown> => {
  try {
    return { returned: await outcome(given) }
  } catch (error) {
    return error instanceof ToolError ? { reason: error.reason._tag, message: error.message } : { foreign: error }
  }
}

describe("a typed tool, erased", () => {
  it("[T2] gives a plain value at once, without a promise or an Effect", () => {
    const tool = erase(Tool.implement(Weather, ({ city }) => `18 °C in ${city}`))
    expect(invoke(tool)).toEqual(said("18 °C in Lisbon"))
  })

  it("[T2] gives a promise for a promise and for any other thenable", async () => {
    const promised = erase(Tool.implement(Weather, ({ city }) => Promise.resolve(city)))
    expect(await invoke(promised)).toEqual(said("Lisbon"))
    const thenable = erase(Tool.implement(Weather, () => new Late()))
    expect(await invoke(thenable)).toEqual(said("late"))
  })

  it("[T2] gives an Effect for an Effect, with the operation as a service", async () => {
    const tool = erase(
      Tool.implement(Weather, ({ city }) =>
        Effect.map(ToolOperation.current, (current) => `${city} for ${current?.principal ?? "nobody"}`)
      )
    )
    expect(await outcome(() => invoke(tool))).toEqual(said("Lisbon for ada"))
  })

  it("[T2] an Effect's services come from provide", async () => {
    class Client extends Context.Service<Client, { readonly current: (city: string) => string }>()("test/Client") {}
    const tool = Tool.implement(Weather, ({ city }) => Effect.map(Client, (client) => client.current(city)))
    const provided = Tool.provide(tool, Context.make(Client, { current: (city) => `sun in ${city}` }))
    expect(await outcome(() => invoke(erase(provided)))).toEqual(said("sun in Lisbon"))
  })

  it("[T2] an interrupted Effect stays interrupted", async () => {
    const tool = erase(Tool.implement(Weather, () => Effect.never))
    const returned = invoke(tool)
    const exit = await Effect.runPromiseExit(Effect.timeout(returned as Effect.Effect<unknown, unknown>, 1))
    expect(Exit.isFailure(exit)).toBe(true)
  })

  it("[T2] the context has the signal, the operation and progress, and the signal is made only when it is read", () => {
    const { context, shown, signalsRead } = invocation()
    const quiet = erase(Tool.implement(Weather, () => "done"))
    invoke(quiet, context)
    expect(signalsRead()).toBe(0)
    const tool = erase(
      Tool.implement(Weather, (_args, { signal, operation: current, progress }) => {
        progress("half way")
        return `${current.operationId} ${String(signal.aborted)}`
      })
    )
    expect(invoke(tool, context)).toEqual(said("r1/1/0 false"))
    expect(shown).toEqual(["half way"])
    expect(signalsRead()).toBe(1)
  })

  it("[T6] has no coordinates among its arguments: they come with the operation", () => {
    const tool = erase(Tool.implement(Weather, (given) => Object.keys(given).join()))
    expect(invoke(tool)).toEqual(said("city"))
  })

  it("[T15] carries what the definition says", () => {
    const definition = Tool.define({
      id: "write",
      description: "Write",
      args: Type.Object({ path: Type.String() }),
      version: "2",
      recovery: "Idempotent",
      state: [visits],
      concurrency: ({ path }) => ToolConcurrency.Resources([{ access: "Write", namespace: "file", key: path }]),
      attribution: { provenance: "Native" }
    })
    const tool = erase(Tool.implement(definition, () => undefined))
    expect({
      version: tool.spec().version,
      recovery: tool.recovery,
      attribution: tool.attribution,
      stateKeys: tool.stateKeys
    }).toEqual({
      version: "2",
      recovery: "Idempotent",
      attribution: { role: "tool", alias: "write", provenance: "Native" },
      stateKeys: [visits]
    })
    expect(tool.concurrency(callOf(tool, { path: "/a" }).arguments)).toEqual({
      _tag: "Resources",
      claims: [{ access: "Write", namespace: "file", key: "/a" }]
    })
  })
})

describe("what a call throws", () => {
  const forms: ReadonlyArray<readonly [string, (error: unknown) => Tool.Tool<"get_weather", typeof args, undefined>]> =
    [
      [
        "plain",
        (error) =>
          Tool.implement(Weather, () => {
            throw error
          })
      ],
      [
        "promise",
        (error) =>
          Tool.implement(Weather, async () => {
            await Promise.resolve()
            throw error
          })
      ],
      ["Effect", (error) => Tool.implement(Weather, () => Effect.fail(error as ToolError))],
      ["Effect defect", (error) => Tool.implement(Weather, () => Effect.die(error))]
    ]

  it.each(forms)("[T2] a ToolError is kept: %s", async (_name, toolOf) => {
    const error = ToolError.invalidArguments("city must not be empty")
    const reason = await reasonOf(() => invoke(erase(toolOf(error))))
    expect(reason).toEqual({ reason: "InvalidArguments", message: "city must not be empty" })
  })

  it.each(forms)("[T2] anything else becomes Execution: %s", async (_name, toolOf) => {
    expect(await reasonOf(() => invoke(erase(toolOf(new Error("socket closed")))))).toEqual({
      reason: "Execution",
      message: "socket closed"
    })
    expect(await reasonOf(() => invoke(erase(toolOf({ code: 1 }))))).toEqual({
      reason: "Execution",
      message: "the tool failed without a message"
    })
  })

  it.each(forms)("[E4] no claim from inside a call proves that nothing was sent: %s", async (_name, toolOf) => {
    const error = ToolError.unavailableBeforeDispatch("no route")
    expect(await reasonOf(() => invoke(erase(toolOf(error))))).toEqual({ reason: "Execution", message: "no route" })
    expect(await reasonOf(() => invoke(erase(toolOf(ToolError.unknown("other")))))).toEqual({
      reason: "Execution",
      message: "unknown tool other"
    })
  })

  it("[T2] an Effect hidden in a promise or an Effect is refused, because it was never run", async () => {
    const message = "get_weather gave an Effect inside a promise or another Effect, so it was never run"
    const hidden = Effect.succeed(1) as unknown as string
    const inPromise = erase(Tool.implement(Weather, () => Promise.resolve(hidden)))
    expect(await reasonOf(() => invoke(inPromise))).toEqual({ reason: "Execution", message })
    const inEffect = erase(Tool.implement(Weather, () => Effect.succeed(hidden)))
    expect(await reasonOf(() => invoke(inEffect))).toEqual({ reason: "Execution", message })
  })
})

describe("declared state", () => {
  const Visit = Tool.define({ id: "visit", description: "Visit", args, state: [visits] })

  it("[T11] a declared key is read as of the step's start and staged with the result", () => {
    const tool = erase(
      Tool.implement(Visit, ({ city }, { operation: current }) =>
        Tool.result(city, { state: [StateKey.set(visits, (current.state.get(visits) ?? 0) + 1)] })
      )
    )
    const { context } = invocation({ ...operation, state: stateOf({ "Thread/visits": 4 }) })
    expect(invoke(tool, context)).toEqual({
      callId: "c1",
      content: [{ type: "text", text: "Lisbon" }],
      isError: false,
      state: [{ _tag: "Set", scope: "Thread", key: "visits", merge: "Disjoint", value: 5 }]
    })
  })

  it("[T11] reading a key that is not declared is an error, also through ToolOperation.current", async () => {
    const message = "visit reads the state Thread/secret, which it does not declare"
    const plain = erase(Tool.implement(Visit, (_args, { operation: current }) => current.state.get(secret)))
    expect(await reasonOf(() => invoke(plain))).toEqual({ reason: "Execution", message })
    const effect = erase(
      Tool.implement(Visit, () => Effect.map(ToolOperation.current, (current) => current?.state.get(secret)))
    )
    expect(await reasonOf(() => invoke(effect))).toEqual({ reason: "Execution", message })
  })

  it.each([
    [
      "a key that is not declared",
      [StateKey.set(secret, "x")],
      "staged the state Thread/secret, which it does not declare"
    ],
    [
      "a declared name under another scope",
      [{ ...StateKey.set(visits, 1), scope: "Shared" as const }],
      "staged the state Shared/visits, which it does not declare"
    ],
    [
      "a declared key under another merge",
      [{ ...StateKey.set(visits, 1), merge: "Exclusive" as const }],
      "staged the state Thread/visits, which it does not declare"
    ],
    [
      "a value that does not fit",
      [StateKey.set(visits, 1), StateKey.set(visits, -1)],
      "staged a value for the state Thread/visits that does not fit: expected a number of at least 0, received -1"
    ]
  ])("[T11] staging %s is an error result that keeps none of the state", (_name, state, problem) => {
    const tool = erase(Tool.implement(Visit, () => Tool.result("been there", { state })))
    const text = `visit completed, but ${problem}; none of its state was kept. Do not repeat it for that reason.\nWhat it returned: been there`
    expect(invoke(tool)).toEqual(said(text, true))
  })

  it("[T11] staging what is no JSON fails where it is made", async () => {
    const loose = StateKey.make({ name: "loose", schema: Type.Unknown() })
    const tool = erase(Tool.implement(Visit, () => Tool.result("x", { state: [StateKey.set(loose, new Map())] })))
    expect(await reasonOf(() => invoke(tool))).toEqual({
      reason: "Execution",
      message: "state Thread/loose: expected a JSON value, received a Map"
    })
  })
})

describe("the value of a call", () => {
  const Count = Tool.define({ id: "count", description: "Count", args, output: Type.Object({ n: Type.Integer() }) })

  it("[T9] is data beside the text where it fits the output schema", async () => {
    const output = {
      callId: "c1",
      content: [{ type: "text", text: '{"n":3}' }],
      isError: false,
      data: { n: 3 },
      state: []
    }
    expect(invoke(erase(Tool.implement(Count, () => ({ n: 3 }))))).toEqual(output)
    expect(await invoke(erase(Tool.implement(Count, () => Promise.resolve({ n: 3 }))))).toEqual(output)
    expect(await outcome(() => invoke(erase(Tool.implement(Count, () => Effect.succeed({ n: 3 })))))).toEqual(output)
  })

  it("[T9] that does not fit is a completed call that says so, not a failure", () => {
    const untyped = JSON.parse('{"n":"3"}') as { n: number }
    const text =
      'The call completed, but its output could not be read (at /n: expected an integer, received the string "3"). Do not repeat it for that reason.\nWhat it returned: {"n":"3"}'
    expect(invoke(erase(Tool.implement(Count, () => untyped)))).toEqual(said(text, true))
  })

  // C040
  it.each<[string, () => object, string]>([
    [
      "a cycle",
      () => {
        const a: { self?: object } = {}
        a.self = a
        return a
      },
      '{"self":"[cycle]"}'
    ],
    [
      "a throwing toJSON",
      () => ({
        toJSON: () => {
          throw new Error("x")
        }
      }),
      "[unserialisable: x]"
    ],
    [
      "a throwing getter",
      () => ({
        get boom() {
          throw new Error("y")
        }
      }),
      '{"boom":"[unserialisable: y]"}'
    ],
    [
      "a proxy that throws at everything",
      () =>
        new Proxy(
          {},
          {
            has: () => {
              throw new Error("trap")
            }
          }
        ),
      "The call completed, but its output could not be read. Do not repeat it for that reason."
    ]
  ])("[T10] %s is a completed call with a bounded text", (name, make, text) => {
    const tool = erase(Tool.implement(Weather, () => make()))
    expect(invoke(tool)).toEqual(said(text, name.startsWith("a proxy")))
  })

  // C038
  it("[T10] nothing, null and nested undefined each give one text", async () => {
    expect(invoke(erase(Tool.implement(Weather, () => {})))).toEqual(said("(no output)"))
    expect(await invoke(erase(Tool.implement(Weather, async () => {})))).toEqual(said("(no output)"))
    expect(invoke(erase(Tool.implement(Weather, () => null)))).toEqual(said("null"))
    expect(invoke(erase(Tool.implement(Weather, () => [{ a: 1, b: undefined }])))).toEqual(said('[{"a":1}]'))
  })

  it("[T10] content blocks are shown in place of the text", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const
    const tool = erase(Tool.implement(Weather, () => Tool.result(undefined, { content: [image] })))
    expect(invoke(tool)).toEqual({ callId: "c1", content: [image], isError: false, state: [] })
  })
})

describe("what is no tool", () => {
  const erased = erase(Tool.implement(Weather, () => "sunny"))
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "a value of type undefined"],
    ["an empty object", {}, "a value of type object"],
    ["a function", () => "sunny", "a value of type function"],
    ["an erased tool", erased, "one that is erased already"]
  ])("[T7] %s is refused in words", (_name, given, received) => {
    expect((): unknown => Reflect.apply(erase, undefined, [given])).toThrow(
      `tool definition: expected a tool, as Tool.implement or Tool.make gives it, received ${received}`
    )
  })
})

describe("a client-executed definition", () => {
  const Pick = Tool.define({ id: "pick", description: "Let the person pick", args, kind: "ClientExecuted" })

  it("[T16] is erased without a call, and is never run in place", async () => {
    const tool = erase(Pick)
    expect(tool.spec()).toBe(Pick.spec)
    expect(await reasonOf(() => invoke(tool))).toEqual({
      reason: "Execution",
      message: "pick is executed by a client and has no implementation here"
    })
  })

  it("[T7] a Regular definition without its call is refused", () => {
    expect(() => erase(Weather)).toThrow(
      'tool "get_weather" at /call: expected a tool with its call, or a ClientExecuted definition, received a Regular definition'
    )
  })
})

describe("reconcile", () => {
  const reconciled = (reconcile: () => unknown): RawTool.RawTool =>
    erase(
      Tool.make({
        id: "pay",
        description: "Pay",
        args,
        output: Type.String(),
        reconcile: reconcile as () => RawTool.Reconciliation<string>,
        call: () => "paid"
      })
    )

  const ask = (tool: RawTool.RawTool): unknown => tool.reconcile?.(callOf(tool, { city: "Lisbon" }), operation)

  it("[R5] what happened is rendered like the value of a call", async () => {
    const paid = {
      _tag: "Happened",
      output: { callId: "c1", content: [{ type: "text", text: "paid" }], isError: false, data: "paid", state: [] }
    }
    expect(ask(reconciled(() => ({ _tag: "Happened", output: "paid" })))).toEqual(paid)
    expect(await ask(reconciled(() => Promise.resolve({ _tag: "Happened", output: "paid" })))).toEqual(paid)
    expect(await outcome(() => ask(reconciled(() => Effect.succeed({ _tag: "Happened", output: "paid" }))))).toEqual(
      paid
    )
  })

  it("[R5] an answer that is none is Unknown", () => {
    expect(ask(reconciled(() => ({ _tag: "Perhaps" })))).toEqual({ _tag: "Unknown" })
    expect(ask(reconciled(() => ({ _tag: "InProgress" })))).toEqual({ _tag: "Unknown" })
    expect(ask(reconciled(() => "yes"))).toEqual({ _tag: "Unknown" })
    expect(ask(reconciled(() => ({ _tag: "InProgress", retryAfter: 5 })))).toEqual({
      _tag: "InProgress",
      retryAfter: 5
    })
    expect(ask(reconciled(() => ({ _tag: "NotSent" })))).toEqual({ _tag: "NotSent" })
  })
})
