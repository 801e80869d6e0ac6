import { AiSdkExecutor, type AiSdkModelV3 } from "@toolwright/model-ai-sdk"
import { ExecutableAgentSnapshot } from "@toolwright/runtime-contract"

// Stands for `openai("gpt-5")` and the like.
const model: AiSdkModelV3 = {
  specificationVersion: "v3",
  provider: "anthropic.messages",
  modelId: "claude",
  doStream: () => Promise.reject(new Error("not asked"))
}
const llm = AiSdkExecutor.fromModel(model)
const snapshot = ExecutableAgentSnapshot.builder("agent").model({ provider: "anthropic", model: "claude" }).build()
if (llm.refused(snapshot.model, snapshot.tools).length > 0) throw new Error("refused")
