/**
 * The agent's list of what is to be done, kept as state of the thread.
 *
 * Guarantees: changed by the commit of the step and by nothing else, so it is as durable as the conversation; the whole
 * list is replaced at once.
 * Does not do anything of it.
 */
import { StateKey, Tool, ToolConcurrency } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"

const list = Type.Array(
  Type.Object({
    content: Type.String({ minLength: 1, maxLength: 500, description: "What is to be done" }),
    status: Type.Union([Type.Literal("pending"), Type.Literal("in_progress"), Type.Literal("completed")])
  }),
  { maxItems: 100 }
)

/** The list of a thread. */
export const Todos = StateKey.make({ name: "todos", schema: list, initial: [] })

const args = Type.Object({
  todos: Type.Optional(
    Type.Array(list.items, { maxItems: 100, description: "The whole new list; left out to see the list" })
  )
})

const output = Type.Object({ todos: list, open: Type.Integer({ description: "Not completed" }) })

/** Needs nothing to be described; `todo()` makes it executable. */
export const Todo = Tool.define({
  id: "todo",
  description: [
    "Keep a list of tasks for work of several steps: send the whole list each time, or nothing to see it.",
    "Have one task in_progress at a time, and complete it before the next. At most 100 tasks."
  ].join(" "),
  args,
  output,
  recovery: "ReplaySafe",
  state: [Todos],
  concurrency: ({ todos }) =>
    ToolConcurrency.Resources([{ access: todos === undefined ? "Read" : "Write", namespace: "todo", key: "list" }]),
  attribution: { provenance: "Native" }
})

/** The tool. It holds nothing itself. */
export const todo = (): Tool.Tool<"todo", typeof args, typeof output> =>
  Tool.implement(Todo, (given, { operation }) => {
    const todos = given.todos ?? operation.state.get(Todos) ?? []
    const content = [{ type: "text" as const, text: textOf(todos) }]
    const data = { todos, open: todos.filter(({ status }) => status !== "completed").length }
    return Tool.result(data, given.todos === undefined ? { content } : { content, state: [StateKey.set(Todos, todos)] })
  })

const marks = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const

const textOf = (todos: Static<typeof list>): string =>
  todos.length === 0
    ? "the list is empty"
    : todos.map(({ content, status }) => `${marks[status]} ${content}`).join("\n")
