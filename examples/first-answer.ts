/**
 * The first run of the first tool, to its end: `node first-answer.js` prints what was said and done.
 */
// #region answer
import { Message } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { ask } from "./first-run.js"

// A model that says what is written down here. A real one goes in its place.
const llm = new ScriptedLlm([
  { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
  { text: "It is 21 degrees in Lisbon." }
])

const outcome = await ask(llm, (city) => Promise.resolve(city === "Lisbon" ? 21 : undefined))
for (const message of outcome.messages)
  if (message.role === "tool") console.log(`${message.toolId}: ${Message.textOf(message.content)}`)
console.log(outcome.text)
// #endregion
