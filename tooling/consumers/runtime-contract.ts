import { Tool, ToolDescriptor } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

const GetWeather = Tool.define({
  id: "get_weather",
  description: "Return the current weather for one city",
  args: Type.Object({ city: Type.String() }),
  output: Type.String()
})
const weather = Tool.implement(GetWeather, async ({ city }) => `sunny in ${city}`)
const descriptor = ToolDescriptor.forTool(weather, "custom:weather")
if (descriptor.id !== "get_weather") throw new Error(descriptor.id)
