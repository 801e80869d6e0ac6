// #region tool
import { Tool, ToolArgs } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

export const GetWeather = Tool.define({
  id: "get_weather",
  description: "Return the current weather for one city",
  args: Type.Object({ city: Type.String() }),
  output: Type.Object({ city: Type.String(), celsius: Type.Number() }),
  recovery: "ReplaySafe"
})

export const getWeather = (station: (city: string) => Promise<number | undefined>) =>
  Tool.implement(GetWeather, async ({ city }) => {
    const celsius = await station(city)
    if (celsius === undefined)
      throw ToolArgs.invalidArguments("get_weather", [
        { pointer: "/city", expected: "a city with a weather station", received: JSON.stringify(city) }
      ])
    return { city, celsius }
  })
// #endregion
