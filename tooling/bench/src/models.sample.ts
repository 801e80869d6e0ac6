/**
 * One sample in a process of its own:  node dist/models.sample.js CONTENDER TOOLS TOKENS REQUESTS PORT
 * Prints one line of JSON: CPU microseconds of all requests together.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAI as createOpenAIV4 } from "@ai-sdk/openai-v4"
import { AiSdkExecutor } from "@toolwright/model-ai-sdk"
import { ModelPolicy } from "@toolwright/runtime"
import { type Json, type LlmExecutor, RuntimeClock, ToolDescriptor, Transcript } from "@toolwright/runtime-contract"
import { jsonSchema, streamText, type ToolSet } from "ai"
import { jsonSchema as jsonSchemaV7, streamText as streamTextV7, type ToolSet as ToolSetV7 } from "ai-v7"

const [contender = "", ...numbers] = process.argv.slice(2)
const [tools = 1, tokens = 1, requests = 1, port = 0] = numbers.map(Number)
const baseURL = `http://127.0.0.1:${port}/${tokens}`

const schema: Json.JsonObject = {
  type: "object",
  properties: {
    city: { type: "string", description: "Name of the city", minLength: 1 },
    days: { type: "integer", minimum: 1, maximum: 14 },
    units: { type: "string", enum: ["metric", "imperial"] }
  },
  required: ["city", "days"],
  additionalProperties: false
}
const names = Array.from({ length: tools }, (_, index) => `tool_${index}`)
const description = "Return the forecast for one city and a number of days"

const descriptors = names.map((id) =>
  ToolDescriptor.forTool(
    {
      spec: { id, description, inputSchema: schema, kind: "Regular", target: "Brain", warnings: [] },
      recovery: "NonRecoverable"
    },
    "bench:tools"
  )
)
const history = new Transcript([{ role: "user", id: "u", content: [{ type: "text", text: "What is the weather?" }] }])
const request: LlmExecutor.LlmRequest = {
  runId: "run",
  threadId: "thread",
  step: 1,
  attempt: 1,
  model: { provider: "openai", model: "m" },
  instructions: "Be brief.",
  messages: history,
  notes: [],
  tools: descriptors,
  toolChoice: "auto"
}

/** Reads an answer to its end and counts its pieces of text. */
type Ask = () => Promise<number>

const own = (llm: LlmExecutor.LlmExecutor): Ask => {
  const policed = ModelPolicy.around(llm, { environment: { clock: RuntimeClock.system } })
  return async () => {
    let pieces = 0
    for await (const event of policed.stream(request, { signal: new AbortController().signal }))
      if (event.type === "text") pieces++
    return pieces
  }
}

const count = async (parts: AsyncIterable<{ readonly type: string }>): Promise<number> => {
  let pieces = 0
  for await (const part of parts) if (part.type === "text-delta") pieces++
  return pieces
}

const contenders: Readonly<Record<string, () => Ask>> = {
  "floor v3": () => {
    const model = createOpenAI({ apiKey: "k", baseURL }).chat("m")
    const shown = names.map((name) => ({ type: "function" as const, name, description, inputSchema: schema as never }))
    return async () => {
      const { stream } = await model.doStream({
        prompt: [
          { role: "system", content: request.instructions },
          { role: "user", content: [{ type: "text", text: "What is the weather?" }] }
        ],
        tools: shown,
        toolChoice: { type: "auto" }
      })
      return count(stream)
    }
  },
  "floor v4": () => {
    const model = createOpenAIV4({ apiKey: "k", baseURL }).chat("m")
    const shown = names.map((name) => ({ type: "function" as const, name, description, inputSchema: schema as never }))
    return async () => {
      const { stream } = await model.doStream({
        prompt: [
          { role: "system", content: request.instructions },
          { role: "user", content: [{ type: "text", text: "What is the weather?" }] }
        ],
        tools: shown,
        toolChoice: { type: "auto" }
      })
      return count(stream)
    }
  },
  "toolwright v3": () => own(AiSdkExecutor.fromModel(createOpenAI({ apiKey: "k", baseURL }).chat("m"))),
  "streamText v3": () => {
    const model = createOpenAI({ apiKey: "k", baseURL }).chat("m")
    const shown = { description, inputSchema: jsonSchema(schema as never) }
    const set = Object.fromEntries(names.map((name) => [name, shown])) as unknown as ToolSet
    return () =>
      count(streamText({ model, system: request.instructions, prompt: "What is the weather?", tools: set }).fullStream)
  },
  "toolwright v4": () => own(AiSdkExecutor.fromModel(createOpenAIV4({ apiKey: "k", baseURL }).chat("m"))),
  "streamText v4": () => {
    const model = createOpenAIV4({ apiKey: "k", baseURL }).chat("m")
    const shown = { description, inputSchema: jsonSchemaV7(schema as never) }
    const set = Object.fromEntries(names.map((name) => [name, shown])) as unknown as ToolSetV7
    return () =>
      count(
        streamTextV7({ model, instructions: request.instructions, prompt: "What is the weather?", tools: set })
          .fullStream
      )
  }
}

const make = contenders[contender]
if (make === undefined) throw new Error(`no contender ${contender}`)
const ask = make()

const measured = async (times: number): Promise<void> => {
  for (let index = 0; index < times; index++) {
    const pieces = await ask()
    if (pieces !== tokens) throw new Error(`${contender} read ${pieces} of ${tokens} pieces`)
  }
}

// long enough for the compiler to settle
const settled = process.cpuUsage()
do await measured(Math.max(1, Math.ceil(requests / 4)))
while (process.cpuUsage(settled).user < 1_500_000)
const before = process.cpuUsage()
await measured(requests)
const used = process.cpuUsage(before)
console.log(JSON.stringify({ cpu: used.user + used.system }))
process.exit(0)
