/** Held by the type checker: the structural types accept and give what both provider specifications say. */
import type * as V3 from "@ai-sdk/provider"
import type * as V4 from "@ai-sdk/provider-v4"
import { describe, expect, expectTypeOf, it } from "vitest"
import type {
  AiSdkModel,
  AiSdkModelV3,
  AiSdkModelV4,
  CallOptionsV3,
  CallOptionsV4,
  StreamPart
} from "../src/AiSdkModel.js"
import { isAiSdkModel } from "../src/AiSdkModel.js"

// A method is compared both ways round and would hide a wrong parameter; a property is not.
type Strict<Model extends { doStream: (...args: never) => unknown }> = Omit<Model, "doStream"> & {
  readonly doStream: (...args: Parameters<Model["doStream"]>) => ReturnType<Model["doStream"]>
}

describe("models of both specifications", () => {
  it("[L7] fit as they are, and are sent only what their specification takes", () => {
    expectTypeOf<Strict<V3.LanguageModelV3>>().toExtend<AiSdkModelV3>()
    expectTypeOf<Strict<V4.LanguageModelV4>>().toExtend<AiSdkModelV4>()
    expectTypeOf<V3.LanguageModelV3>().toExtend<AiSdkModel>()
    expectTypeOf<V4.LanguageModelV4>().toExtend<AiSdkModel>()
    expectTypeOf<CallOptionsV3>().toExtend<V3.LanguageModelV3CallOptions>()
    expectTypeOf<CallOptionsV4>().toExtend<V4.LanguageModelV4CallOptions>()
  })

  it("[L7] give no part that has no name here", () => {
    expectTypeOf<V3.LanguageModelV3StreamPart>().toExtend<StreamPart>()
    expectTypeOf<V4.LanguageModelV4StreamPart>().toExtend<StreamPart>()
    expectTypeOf<Exclude<V3.LanguageModelV3StreamPart["type"], StreamPart["type"]>>().toBeNever()
    expectTypeOf<Exclude<V4.LanguageModelV4StreamPart["type"], StreamPart["type"]>>().toBeNever()
    expectTypeOf<Exclude<StreamPart["type"], V4.LanguageModelV4StreamPart["type"]>>().toBeNever()
  })

  it("[L7] are told from models of other specifications and from what is no model", () => {
    const doStream = (): never => {
      throw new Error("not called")
    }
    const like = { provider: "p", modelId: "m", doStream }
    expect(
      [
        { ...like, specificationVersion: "v3" },
        { ...like, specificationVersion: "v4" },
        { ...like, specificationVersion: "v2" },
        { ...like, specificationVersion: "v3", doStream: undefined },
        { specificationVersion: "v4", doStream },
        "openai/gpt",
        null
      ].map(isAiSdkModel)
    ).toEqual([true, true, false, false, false, false, false])
  })
})
