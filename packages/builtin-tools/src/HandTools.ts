/**
 * The tools in the box that run in a sandbox, as one set: the same list beside the runtime and inside a hand.
 *
 * Guarantees: both sides get the same tools from the same call, so a sandbox finds them equal.
 * Does not contain the tools that run beside the runtime: `web_fetch`, `todo`, `ask_user`, `calculate`, `current_time`.
 */
import type { RawTool } from "@toolwright/runtime-contract"
import { bash } from "./Bash.js"
import { erase } from "./erase.js"
import { fileTools } from "./FileTools.js"
import * as Workspace from "./Workspace.js"

/** What a hand gives to its registry, as far as these tools need it. */
export interface HandPlace {
  /** The folder to work in. */
  readonly workspace: string
  readonly aliases?: ReadonlyArray<string>
  /** True only inside a box whose processes are all its own. */
  readonly contained?: boolean
  /** What commands see. Default: a few variables of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** The file tools and `bash`. */
export const handTools = ({
  workspace,
  aliases = [],
  contained = false,
  environment
}: HandPlace): ReadonlyArray<RawTool.RawTool> => {
  const opened = Workspace.open(workspace, { aliases })
  return [
    ...fileTools(opened),
    erase(bash({ workspace: opened, contained, ...(environment === undefined ? {} : { environment }) }))
  ]
}
