/**
 * A model of the AI SDK as the model of a runtime.
 */
// #region model
import { openai } from "@ai-sdk/openai"
import { AiSdkExecutor } from "@toolwright/model-ai-sdk"

/** For `Runtime.make({ llm })`. The provider reads its key, `OPENAI_API_KEY`, when it is first asked. */
export const llm = AiSdkExecutor.fromModel(openai("gpt-5-mini"))
// #endregion
