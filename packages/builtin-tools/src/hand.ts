/**
 * The registry module of a hand with the tools in the box. Shipped as one bundled file, because loading the modules one by
 * one takes longer than everything else that a hand does at its start.
 *
 * Guarantees: the same tools as `handTools` gives beside the runtime.
 * Does not validate: the runtime parsed the arguments before they were sent, and checks outputs against their schemas
 * when they come back. So no validator is loaded here, which would be half of the start.
 */
import { type AjvModules, provideAjv } from "@toolwright/runtime-contract/ajv"
import type { RawTool } from "@toolwright/runtime-contract"
import type { HandPlace } from "./HandTools.js"

/** Takes every schema and every value. Only what the contract calls of the real one. */
class Unchecked {
  readonly compile = () => () => true
  readonly addFormat = () => this
  readonly addKeyword = () => this
  readonly removeKeyword = () => this
  readonly removeSchema = () => this
}

provideAjv({ Ajv2020: Unchecked as unknown as AjvModules["Ajv2020"], fullFormats: {} })

/** Defines the tools after that. */
const registry = async (place: HandPlace): Promise<ReadonlyArray<RawTool.RawTool>> => {
  const { handTools } = await import("./HandTools.js")
  return handTools(place)
}

export default registry
