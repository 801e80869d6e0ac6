/**
 * What a talk begins with: who is there, what the work is done on, and what could be said first.
 *
 * Guarantees: says of the folder whether it is a copy, and of the sandbox whether there is one.
 * Does not show itself: the session does.
 */
import type { LlmExecutor } from "@toolwright/runtime-contract"
import type { Folder } from "./Folder.js"
import type { Hands } from "./Hands.js"

/** A name and a text for each fact. */
export interface Opening {
  readonly title: string
  readonly facts: ReadonlyArray<readonly [name: string, text: string]>
  readonly examples: ReadonlyArray<string>
}

export interface OpeningOptions {
  readonly model: LlmExecutor.ModelBinding
  /** How many. */
  readonly tools: number
  readonly folder: Folder | undefined
  readonly hands: Hands | undefined
}

const talk = "weather in Lisbon and Oslo · 17% of 2380 · note: buy milk"
const work = "run the tests · fix the failing test · find TODO · read src/price.js"

export const openingOf = ({ model, tools, folder, hands }: OpeningOptions): Opening => ({
  title: `toolwright demo: an agent with ${tools} tools, ${nameOf(model)} and a permission gate`,
  facts:
    folder === undefined || hands === undefined
      ? []
      : [
          ["folder", folder.path],
          ...(folder.isCopy ? [["", copyText(folder)] as const] : []),
          ["sandbox", hands.contained],
          ...hands.remarks.map((remark) => ["", remark] as const)
        ],
  examples: folder === undefined ? [`Try: ${talk}`] : [`Try: ${work}`, `     ${talk}`]
})

const copyText = ({ isKept }: Folder): string =>
  `a scratch copy of the example project; ${isKept ? "it stays" : "gone at the end, --keep keeps it"}`

const nameOf = ({ provider, model }: LlmExecutor.ModelBinding): string =>
  provider === "offline" ? "an offline model" : `the model ${provider}:${model}`
