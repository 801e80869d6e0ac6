/**
 * A model's server on this machine, in a process of its own so that its work is not counted:  node dist/models.server.js
 * Speaks OpenAI chat completions. Prints its port; ends when its input does.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

const chunk = (delta: object, more: object = {}): string =>
  data({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, ...more }] })

const usage = data({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
})

/** Answers of one token and of many. Made once: only the client's work is to differ. */
const answers = new Map<string, Buffer>()
const answerOf = (tokens: number): Buffer => {
  const known = answers.get(String(tokens))
  if (known !== undefined) return known
  const frames = Array.from({ length: tokens }, (_, index) => chunk({ content: `word${index % 10} ` }))
  const made = Buffer.from([...frames, chunk({}, { finish_reason: "stop" }), usage, "data: [DONE]\n\n"].join(""))
  answers.set(String(tokens), made)
  return made
}

const server = createServer((request, response) => {
  request.resume()
  request.once("end", () => {
    const tokens = Number(/^\/(\d+)\//.exec(request.url ?? "")?.[1] ?? 1)
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(answerOf(tokens))
  })
})

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.stdin.resume()
process.stdin.once("end", () => {
  server.closeAllConnections()
  server.close()
})
