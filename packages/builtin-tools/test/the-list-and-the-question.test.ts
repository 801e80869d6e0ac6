import { expect, it } from "vitest"
import { ToolOutput } from "@toolwright/runtime-contract"
import { erase } from "../src/index.js"
import { AskUser } from "../src/AskUser.js"
import { todo } from "../src/Todo.js"
import { hands } from "./folder.js"

const tasks = [
  { content: "read", status: "completed" },
  { content: "edit", status: "in_progress" },
  { content: "test", status: "pending" }
]

it("[D1] [T11] the list is staged as state of the thread and read from it", async () => {
  const { call } = hands("/", [erase(todo())])
  const output = await call("todo", { todos: tasks })
  expect(output.state).toEqual([{ _tag: "Set", scope: "Thread", key: "todos", merge: "Disjoint", value: tasks }])
  expect([ToolOutput.text(output), output.data]).toEqual(["[x] read\n[>] edit\n[ ] test", { todos: tasks, open: 2 }])
  const seen = await call("todo", {})
  expect([ToolOutput.text(seen), seen.state]).toEqual(["[x] read\n[>] edit\n[ ] test", []])
  expect(ToolOutput.text(await call("todo", {}, { threadId: "other" }))).toBe("the list is empty")
})

it("[T16] a question is executed by the client and never here", () => {
  const tool = erase(AskUser)
  expect(tool.spec().kind).toBe("ClientExecuted")
  expect(() => tool.invoke({} as never, {} as never)).toThrow("executed by a client")
})
