/**
 * What somebody sees who decides about a call: the call whole, and what would become of it.
 *
 * Guarantees: every argument that runs is shown, with each hidden character written out; a change of a file is shown as a
 * difference from the file as it is at that moment; a command line is shown with the commands that were found in it.
 * Does not ask: the approval does.
 */
import { createHash } from "node:crypto"
import { type FileChange, previewChange, Workspace } from "@toolwright/builtin-tools/files"
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

  /** The call as it was asked for, and why somebody is asked. Gives what it would do to a file, for `outcomeOf`. */
  async show(call: ShownCall): Promise<string> {
    const { ticket } = call
    this.#screen.asked(ticket.operationId, `${ApprovalText.showLine(ticket.toolId)}: may it run with these arguments?`)
    const outcome = await this.#body(call)
    const reasons = new Set(ticket.requirements.map(({ reason }) => ApprovalText.showLine(reason)))
    this.#screen.lines("because", [...reasons].map(plain))
    return outcome
  }

  /** What an editor made of it, before it is sent. */
  async propose(call: ShownCall): Promise<string> {
    const { operationId, toolId } = call.ticket
    this.#screen.asked(operationId, `${ApprovalText.showLine(toolId)}: would run with these arguments instead:`)
    return this.#body(call)
  }

  /** What the call would do to a file now, as one text; the same as was given for what was shown, if that is still so. */
  outcomeOf(call: Pick<ShownCall, "ticket" | "arguments">): string {
    return fingerprint(this.#look(call))
  }

  async #body(call: ShownCall): Promise<string> {
    const { ticket, arguments: given, schema, directory } = call
    const look = this.#look(call)
    const isWhole = look !== undefined && "change" in look
    this.#arguments(ApprovalText.hideSecrets(given, schema), isWhole ? inTheDifference : new Set())
    if (isWhole) await this.#change(look.change)
    else if (look !== undefined) this.#screen.lines("change", [refusal, ...linesOf(look.refused)])
    const { command } = given
    if (ticket.toolId === "bash" && typeof command === "string") {
      this.#screen.detail("in", directory === "." ? "the folder" : directory)
      this.#screen.lines("runs", await commandsIn(command))
    }
    return fingerprint(look)
  }

  #arguments(given: Json.JsonObject, left: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(given))
      if (!left.has(name))
        this.#screen.detail(ApprovalText.showLine(name), typeof value === "string" ? value : JSON.stringify(value))
  }

  async #change({ replaces, before, after }: FileChange): Promise<void> {
    const lines = await fileDiff(before, after)
    const head = lines.length === 0 && replaces === "text" ? "none: the file holds exactly this" : heads[replaces]
    this.#screen.lines("change", [{ ink: "dim", text: head }])
    this.#screen.code(lines)
  }

  /** `undefined`: the call changes no text of a file. */
  #look({ ticket, arguments: given }: Pick<ShownCall, "ticket" | "arguments">): Look | undefined {
    if (this.#workspace === undefined) return undefined
    try {
      const change = previewChange(this.#workspace, { toolId: ticket.toolId, arguments: given })
      return change === undefined ? undefined : { change }
    } catch (error) {
      if (error instanceof ToolError) return { refused: error.message }
      throw error
    }
  }
}

/** What the tool would do to the file as it is now, or why it would not. */
type Look = { readonly change: FileChange } | { readonly refused: string }

const fingerprint = (look: Look | undefined): string =>
  createHash("sha256")
    .update(JSON.stringify(look ?? null))
    .digest("hex")

const heads = {
  none: "a new file",
  text: "from the file as it is now",
  binary: "in place of a file that is no text"
} as const

/** Arguments that a difference shows better. */
const inTheDifference: ReadonlySet<string> = new Set(["content", "old_string", "new_string", "edits"])

const plain = (text: string): InkedLine => ({ ink: "plain", text })

const linesOf = (text: string): ReadonlyArray<InkedLine> => ApprovalText.show(text).split("\n").map(plain)

const refusal: InkedLine = { ink: "red", text: "none: as the file is now, the tool refuses" }
