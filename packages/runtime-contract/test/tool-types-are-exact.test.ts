import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Type } from "typebox"
import { describe, expect, expectTypeOf, it } from "vitest"
import { ToolConcurrency, Tool, ToolError } from "../src/index.js"

class Clock extends Context.Service<Clock, { readonly now: number }>()("test/Clock") {}

const args = Type.Object({
  city: Type.String(),
  days: Type.Optional(Type.Integer()),
  unit: Type.Union([Type.Literal("c"), Type.Literal("f")]),
  note: Type.Union([Type.String(), Type.Null()]),
  place: Type.Object({ tags: Type.Array(Type.String()) })
})

interface Args {
  city: string
  days?: number
  unit: "c" | "f"
  note: string | null
  place: { tags: Array<string> }
}

const Forecast = Tool.define({
  id: "forecast",
  description: "Forecast",
  args,
  output: Type.Object({ degrees: Type.Number() })
})
const Log = Tool.define({ id: "log", description: "Write a line", args: Type.Object({ line: Type.String() }) })

describe("the types of a tool", () => {
  it("[T1] keep the id literal and give call and concurrency the exact type of the schema", () => {
    expectTypeOf(Forecast.id).toEqualTypeOf<"forecast">()
    const tool = Tool.make({
      id: "forecast",
      description: "Forecast",
      args,
      concurrency: (given) => {
        expectTypeOf(given).branded.toEqualTypeOf<Args>()
        return ToolConcurrency.Serial
      },
      call: (given) => {
        expectTypeOf(given).branded.toEqualTypeOf<Args>()
        return given.city
      }
    })
    expectTypeOf(tool.definition.id).toEqualTypeOf<"forecast">()
    expect(tool.definition.concurrency({ city: "", unit: "c", note: null, place: { tags: [] } })).toEqual(
      ToolConcurrency.Serial
    )
  })

  it("[T2] take a plain value, a promise and an Effect of the output", () => {
    Tool.implement(Forecast, () => ({ degrees: 1 }))
    Tool.implement(Forecast, () => Promise.resolve({ degrees: 1 }))
    Tool.implement(Forecast, async () => {
      await Promise.resolve()
      return { degrees: 1 }
    })
    Tool.implement(Forecast, () => Effect.succeed({ degrees: 1 }))
    Tool.implement(Forecast, () => Effect.fail(ToolError.execution("down")))
    Tool.implement(Forecast, () => Tool.result({ degrees: 1 }, { state: [] }))
    // @ts-expect-error a generator is none of the three forms
    Tool.implement(Forecast, function* () {
      yield 1
      return 2
    })
    expect(Forecast.id).toBe("forecast")
  })

  it("[T2] refuse an output of another type, in each of the three forms", () => {
    // @ts-expect-error degrees is a number
    Tool.implement(Forecast, () => ({ degrees: "1" }))
    // @ts-expect-error degrees is a number
    Tool.implement(Forecast, () => Promise.resolve({ degrees: "1" }))
    // @ts-expect-error degrees is missing
    Tool.implement(Forecast, () => Effect.succeed({}))
    // @ts-expect-error degrees is a number
    Tool.implement(Forecast, () => Tool.result({ degrees: "1" }, { state: [] }))
    // @ts-expect-error nothing is not an output
    Tool.implement(Forecast, () => {})
    expect(Forecast.id).toBe("forecast")
  })

  it("[T2] refuse an Effect that fails with anything but ToolError", () => {
    // @ts-expect-error the error channel holds a plain Error
    Tool.implement(Forecast, () => Effect.fail(new Error("down")))
    // @ts-expect-error also where there is no output schema
    Tool.implement(Log, () => Effect.fail("down"))
    expect(Forecast.id).toBe("forecast")
  })

  it("[T2] let a tool without an output give any plain value, and no Effect inside another form", () => {
    Tool.implement(Log, () => {})
    Tool.implement(Log, async () => {})
    Tool.implement(Log, () => undefined)
    Tool.implement(Log, () => null)
    Tool.implement(Log, () => 1n)
    Tool.implement(Log, () => new Map([["a", new Date(0)]]))
    Tool.implement(Log, () => ({ a: [1] }))
    Tool.implement(Log, () => Effect.void)
    Tool.implement(Log, () => Effect.succeed("done"))
    // @ts-expect-error an Effect in a promise is never run
    Tool.implement(Log, () => Promise.resolve(Effect.succeed(1)))
    // @ts-expect-error an Effect in an Effect is never run
    Tool.implement(Log, () => Effect.succeed(Effect.succeed(1)))
    // @ts-expect-error a promise in an Effect is never awaited
    Tool.implement(Log, () => Effect.succeed(Promise.resolve(1)))
    expect(Log.id).toBe("log")
  })

  it("[T2] keep the services that a call needs until they are provided", () => {
    const needy = Tool.implement(Forecast, () => Effect.map(Clock, ({ now }) => ({ degrees: now })))
    expectTypeOf(needy).toEqualTypeOf<Tool.Tool<"forecast", typeof args, typeof Forecast.output, Clock>>()
    const provided = Tool.provide(needy, Context.make(Clock, { now: 7 }))
    expectTypeOf(provided).toEqualTypeOf<Tool.Tool<"forecast", typeof args, typeof Forecast.output>>()
    const needsNothing: (tool: Tool.Tool<"forecast", typeof args, typeof Forecast.output>) => void = () => {}
    needsNothing(provided)
    // @ts-expect-error the clock is still missing
    needsNothing(needy)
    // @ts-expect-error another service does not help
    Tool.provide(needy, Context.empty())
    expect(provided.spec).toBe(Forecast.spec)
  })
})
