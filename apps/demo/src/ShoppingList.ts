/**
 * The list tool: adds one line to a file. Whoever runs it twice has the line twice.
 *
 * Guarantees: says so, by having no recovery capability; an earlier line is never touched.
 * Does not notice repeats: that is what the runtime is for.
 */
import { appendFile, mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Tool, ToolArgs, ToolConcurrency } from "@toolwright/runtime-contract"
import { Type } from "typebox"

export const AddToList = Tool.define({
  id: "add_to_list",
  description: "Add one entry to the person's shopping list.",
  args: Type.Object({ item: Type.String({ maxLength: 200, description: "For example: milk" }) }),
  output: Type.Object({
    item: Type.String({ description: "The line that was added" }),
    file: Type.String({ description: "Path of the list" }),
    entries: Type.Integer()
  }),
  recovery: "NonRecoverable",
  concurrency: () => ToolConcurrency.Resources([{ access: "Write", namespace: "notes", key: "shopping-list" }])
})

export const addToList = (folder: string): Tool.Tool<"add_to_list", typeof AddToList.args, typeof AddToList.output> =>
  Tool.implement(AddToList, async ({ item }) => {
    const line = item.replaceAll(/\s+/g, " ").trim()
    if (line === "")
      throw ToolArgs.invalidArguments(AddToList.id, [
        { pointer: "/item", expected: "an entry", received: "a blank text", fix: "send what should be on the list" }
      ])
    const file = join(folder, "shopping-list.txt")
    await mkdir(folder, { recursive: true })
    await appendFile(file, `${line}\n`)
    return { item: line, file, entries: (await readFile(file, "utf8")).trimEnd().split("\n").length }
  })
