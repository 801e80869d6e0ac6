/**
 * What somebody sees who decides about a call: the call whole, and what would become of it.
 *
 * Guarantees: every argument that runs is shown, with each hidden character written out; a change of a file is shown as a
 * difference from the file as it is at that moment; a command line is shown with the commands that were found in it.
 * Does not ask: the approval does.
 */
import { previewChange, Workspace } from "@toolwright/builtin-tools/files"
import { ApprovalText } from "@toolwright/permissions"
import { type Json, type ResumeTicket, ToolError } from "@toolwright/runtime-contract"
import { commandsIn } from "./internal/commandsIn.js"
import { fileDiff } from "./internal/fileDiff.js"
import type { InkedLine, Page } from "./Page.js"

/** A call as it would run. */
export interface ShownCall {
  readonly ticket: ResumeTicket.ResumeTicket
  readonly arguments: Json.JsonObject
  readonly schema: Json.JsonObject | undefined
  /** Where a command would run, from the folder. */
  readonly directory: string
}

export interface ApprovalPageOptions {
  readonly screen: Page
  /** Absent: there is no folder, so there are no files to look at. */
  readonly folder?: string | undefined
}

export class ApprovalPage {
  readonly #screen: Page
  readonly #workspace: Workspace.Workspace | undefined

  constructor({ screen, folder }: ApprovalPageOptions) {
    this.#screen = screen
    this.#workspace = folder === undefined ? undefined : Workspace.open(folder)
  }

  /** The call as it was asked for, and why somebody is asked. */
  async show(call: ShownCall): Promise<void> {
    const { ticket } = call
    this.#screen.asked(ticket.operationId, `${ApprovalText.showLine(ticket.toolId)}: may it run with these arguments?`)
    await this.#body(call)
    const reasons = new Set(ticket.requirements.map(({ reason }) => ApprovalText.showLine(reason)))
    this.#screen.lines("because", [...reasons].map(plain))
  }

  /** What an editor made of it, before it is sent. */
  async propose(call: ShownCall): Promise<void> {
    const { operationId, toolId } = call.ticket
    this.#screen.asked(operationId, `${ApprovalText.showLine(toolId)}: would run with these arguments instead:`)
    await this.#body(call)
  }

  /** What the call would change, as one text, to see whether that is still so. */
  async changeNow({ ticket, arguments: given }: Pick<ShownCall, "ticket" | "arguments">): Promise<string> {
    return JSON.stringify((await this.#change({ toolId: ticket.toolId, arguments: given })) ?? null)
  }

  async #body({ ticket, arguments: given, schema, directory }: ShownCall): Promise<void> {
    const shown = ApprovalText.hideSecrets(given, schema)
    const change = await this.#change({ toolId: ticket.toolId, arguments: given })
    this.#arguments(shown, change?.isWhole === true ? inTheDifference : new Set())
    if (change !== undefined) this.#screen.lines("change", change.head)
    if (change !== undefined) this.#screen.code(change.lines)
    const { command } = given
    if (ticket.toolId !== "bash" || typeof command !== "string") return
    this.#screen.detail("in", directory === "." ? "the folder" : directory)
    this.#screen.lines("runs", await commandsIn(command))
  }

  #arguments(given: Json.JsonObject, left: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(given))
      if (!left.has(name))
        this.#screen.detail(ApprovalText.showLine(name), typeof value === "string" ? value : JSON.stringify(value))
  }

  async #change(call: { readonly toolId: string; readonly arguments: Json.JsonObject }): Promise<Change | undefined> {
    if (this.#workspace === undefined) return undefined
    try {
      const change = previewChange(this.#workspace, call)
      if (change === undefined) return undefined
      const { replaces, before, after } = change
      const lines = await fileDiff(before, after)
      const same = lines.length === 0
      const head = same ? "none: the file holds exactly this" : heads[replaces]
      return { head: [{ ink: "dim", text: head }], lines, isWhole: true }
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      const why = ApprovalText.show(error.message).split("\n").map(plain)
      return {
        head: [{ ink: "red", text: "none: as the file is now, the tool refuses" }, ...why],
        lines: [],
        isWhole: false
      }
    }
  }
}

const heads = {
  none: "a new file",
  text: "from the file as it is now",
  binary: "in place of a file that is no text"
} as const

interface Change {
  readonly head: ReadonlyArray<InkedLine>
  readonly lines: ReadonlyArray<InkedLine>
  /** It says all that the texts of the call say. */
  readonly isWhole: boolean
}

/** Arguments that a difference shows better. */
const inTheDifference: ReadonlySet<string> = new Set(["content", "old_string", "new_string", "edits"])

const plain = (text: string): InkedLine => ({ ink: "plain", text })
