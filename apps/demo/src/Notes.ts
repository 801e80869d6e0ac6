/**
 * The note tool: writes one file into a scratch folder. The one tool of the demo that changes something.
 *
 * Guarantees: the file's name comes from the operation, so the same operation writes the same file however often it runs.
 * Does not read, change or remove notes.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Tool, ToolArgs, ToolConcurrency, ToolOperation } from "@toolwright/runtime-contract"
import { Type } from "typebox"

export const SaveNote = Tool.define({
  id: "save_note",
  description: "Save a short note as a text file for the person to keep.",
  args: Type.Object({ text: Type.String({ maxLength: 4_000, description: "The whole note" }) }),
  output: Type.Object({ file: Type.String({ description: "Path of the file" }), characters: Type.Integer() }),
  recovery: "Idempotent",
  concurrency: () => ToolConcurrency.Resources([{ access: "Write", namespace: "notes", key: "folder" }])
})

export const saveNote = (folder: string): Tool.Tool<"save_note", typeof SaveNote.args, typeof SaveNote.output> =>
  Tool.implement(SaveNote, async ({ text }, { operation, signal }) => {
    if (text.trim() === "")
      throw ToolArgs.invalidArguments(SaveNote.id, [
        { pointer: "/text", expected: "a note", received: "a blank text", fix: "send what the note should say" }
      ])
    const file = join(folder, `note-${ToolOperation.tokenOf(operation).ledgerId("notes").slice(0, 12)}.txt`)
    await mkdir(folder, { recursive: true })
    await writeFile(file, `${text.trimEnd()}\n`, { signal })
    return { file, characters: text.length }
  })
