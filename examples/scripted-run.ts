/**
 * A run without a model, a network or an effect, and what became of it.
 */
// #region run
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, PermissionGate, ToolDescriptor } from "@toolwright/runtime-contract"
import { EffectRecorder, expectTranscript, ScriptedLlm } from "@toolwright/testing"

const recorder = new EffectRecorder()
const pay = recorder.tool({ id: "pay", answer: () => "paid" })
const llm = new ScriptedLlm([{ calls: [{ toolId: "pay", arguments: {} }] }, "It is paid."])

const snapshot = ExecutableAgentSnapshot.builder("clerk")
  .model({ provider: "scripted", model: "one" })
  .tool(ToolDescriptor.forTool(pay, "test:pay"))
  .build()
const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [pay] })
const { messages } = await runtime.run({ snapshot, input: "Pay the bill.", principal: "ada" })
await runtime.close()

// Each throws where it does not hold.
expectTranscript(messages, ["user: Pay the bill.", "assistant: pay {}", "tool pay: paid", "assistant: It is paid."])
llm.assertDone()
// #endregion
