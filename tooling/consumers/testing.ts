import { ScriptedLlm } from "@toolwright/testing"

const llm = new ScriptedLlm([{ calls: [{ toolId: "get_weather", arguments: { city: "Oslo" } }] }, "It is sunny."])
let refused = false
try {
  llm.assertDone()
} catch {
  refused = true
}
if (!refused) throw new Error("a script that nobody played is not done")
