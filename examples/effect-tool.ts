/**
 * The same for authors who use Effect: services, typed errors and layers.
 */
import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import { type LlmExecutor, Tool, ToolError, ToolOperation } from "@toolwright/runtime-contract"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { snapshot } from "./first-run.js"
import { GetWeather } from "./first-tool.js"

// #region tool
export class WeatherStation extends Context.Service<
  WeatherStation,
  { readonly celsius: (city: string) => Effect.Effect<number, Error> }
>()("example/WeatherStation") {}

// Needs a WeatherStation, and the types say so: it cannot be erased before it has one.
export const getWeather = Tool.implement(
  GetWeather,
  Effect.fnUntraced(function* ({ city }) {
    const station = yield* WeatherStation
    const operation = yield* ToolOperation.current
    yield* Effect.logDebug(`weather for ${operation?.principal ?? "nobody"}`)
    const celsius = yield* Effect.mapError(station.celsius(city), (cause) => ToolError.fromUnknown(cause))
    return { city, celsius }
  })
)
// #endregion

export const ask = (llm: LlmExecutor.LlmExecutor, station: WeatherStation["Service"]) => {
  // #region run
  const weather = Tool.provide(getWeather, Context.make(WeatherStation, station))

  const layer = Runtime.layer({
    llm,
    gate: PermissionGate.make({ allow: ["get_weather"], default: "deny" }),
    tools: [erase(weather)]
  })

  const program = Effect.gen(function* () {
    const runtime = yield* Runtime
    const outcome = yield* runtime.run({ snapshot, input: "How warm is it in Lisbon?", principal: "ada" })
    return outcome.text
  })

  // Interrupting the program cancels the run; leaving the layer's scope closes the runtime.
  return Effect.runPromise(Effect.provide(program, layer))
  // #endregion
}
