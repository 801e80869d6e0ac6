/**
 * A terminal over one SQLite file: a process of an application that does what it is told, line by line, and says how it went.
 * Its one argument is JSON (`TerminalOptions`); so are its commands and answers. SIGTERM closes it as an application would.
 */
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileTools, Workspace } from "@toolwright/builtin-tools/files"
import {
  Message,
  RawToolRegistry,
  type ResumeTicket,
  RuntimeClock,
  type ThreadStore
} from "@toolwright/runtime-contract"
import { type PromiseRuntime, type RunOutcome, Runtime } from "@toolwright/runtime"
import { outsideOf, type ScriptedCall } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { actTool, type Capability, type Decision, gateOf, openStore, scriptOf, snapshotOf } from "./agent.js"

export interface TerminalOptions {
  readonly folder: string
  readonly name: string
  readonly steps: ReadonlyArray<ReadonlyArray<ScriptedCall>>
  readonly decision?: Decision
  readonly recovery?: Capability
  /** Calls whose tool waits behind its entry until the file `go-{n}` is there. */
  readonly holds?: ReadonlyArray<number>
  /** The waiting tool ends when its signal says so, and the process tells when. Otherwise it is deaf. */
  readonly listens?: true
  /** Milliseconds between two looks into the inbox. Default 20. */
  readonly signalPoll?: number
  /** Milliseconds by which this process is later than the others. */
  readonly later?: number
  readonly leaseTtl?: number
  /** Dies at the first occurrence of this point, or at the one with this number. */
  readonly dieAt?: string
  readonly dieAtOccurrence?: number
  /** Has the file tools, over the folder `work`. */
  readonly files?: true
  /** Milliseconds that SIGTERM leaves to what is in flight. */
  readonly grace?: number
}

export type TerminalCommand =
  | { readonly do: "run"; readonly threadId: string }
  | {
      readonly do: "resume"
      readonly ticketId: string
      readonly answer: ResumeTicket.ResumeAnswer
      readonly approver: string
      readonly answerId?: string
      readonly expect?: ResumeTicket.TicketExpectation
    }
  | { readonly do: "cancel" | "pause" | "unpause" | "takeOver" | "view"; readonly threadId: string }
  | { readonly do: "steer"; readonly threadId: string; readonly input: string }
  | { readonly do: "resolve"; readonly threadId: string; readonly operationId: string; readonly happened?: string }
  | { readonly do: "recover" }
  | { readonly do: "close"; readonly grace: number }

/** What a terminal says of a thread. */
export interface Told {
  readonly disposition: string
  readonly revision?: number
  readonly text: string
  readonly tickets: ReadonlyArray<string>
  /** In the order of the transcript: `role: text`, and for results `outcome: text`. */
  readonly messages: ReadonlyArray<string>
  /** Phases of the calls of the open batch. */
  readonly calls?: ReadonlyArray<string>
}

const options = JSON.parse(process.argv[2] ?? "{}") as TerminalOptions
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const clock: RuntimeClock.RuntimeClock = {
  now: () => Date.now() + (options.later ?? 0),
  after: RuntimeClock.system.after
}
const outside = outsideOf(options.folder)
const { close, store } = await openStore({ clock, database: join(options.folder, "threads.db") })

const isThere = (n: number): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => void (existsSync(join(options.folder, `go-${n}`)) ? resolve() : setTimeout(look, 5))
    look()
  })

const whenToldToStop = (n: number, signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => {
      print({ signalled: n })
      reject(new Error("stopped as told"))
    }
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
  })

const tools = [
  actTool({
    recovery: options.recovery ?? "NonRecoverable",
    outside,
    proceed: async (n, signal) => {
      print({ entered: n })
      if (options.holds?.includes(n) !== true) return
      await (options.listens === true ? Promise.race([isThere(n), whenToldToStop(n, signal)]) : isThere(n))
    }
  })
]

const work = join(options.folder, "work")
if (options.files === true) {
  mkdirSync(work, { recursive: true })
  tools.push(...fileTools(Workspace.open(work)))
}

let occurrences = 0
const runtime = Runtime.make({
  llm: scriptOf(options.steps),
  gate: gateOf(options.decision ?? "allow"),
  tools,
  // The file tools are for a sandbox; what is tried here is what a dead process leaves, not what holds it in.
  executors: { Sandbox: new RawToolRegistry(tools) },
  store,
  clock,
  owner: options.name,
  leaseTtl: options.leaseTtl ?? 30_000,
  signalPoll: options.signalPoll ?? 20,
  crashPoint: (point) => {
    if (point === options.dieAt && ++occurrences === (options.dieAtOccurrence ?? 1))
      process.kill(process.pid, "SIGKILL")
  }
})

const tellMessage = (message: Message.Message): string => {
  if (message.role === "reminder") return `reminder: ${message.text}`
  if (message.role === "tool") return `${message.outcome}: ${Message.textOf(message.content)}`
  const calls = message.role === "assistant" ? Message.toolCallsOf(message).map(({ callId }) => `calls ${callId}`) : []
  return `${message.role}: ${[Message.textOf(message.content), ...calls].filter((part) => part !== "").join(", ")}`
}

const told = ({
  disposition,
  messages,
  text,
  tickets
}: Pick<RunOutcome, "disposition" | "messages" | "text" | "tickets">): Told => ({
  disposition: disposition._tag === "Ended" ? `Ended ${disposition.cause._tag}` : disposition._tag,
  text,
  tickets: tickets.map(({ id }) => id),
  messages: messages.toArray().map(tellMessage)
})

const tellView = (view: ThreadStore.ThreadView | undefined): Told => {
  if (view?.disposition === undefined) return { disposition: "none", text: "", tickets: [], messages: [] }
  const tickets = [...view.tickets.values()].flatMap((state) => (state.decision === undefined ? [state.ticket] : []))
  const calls = view.batch?.calls.map(({ phase }) => phase._tag) ?? []
  return {
    ...told({ disposition: view.disposition, messages: view.messages, text: "", tickets }),
    revision: view.revision,
    calls
  }
}

const obey = async (command: TerminalCommand): Promise<unknown> => {
  switch (command.do) {
    case "run":
      return told(
        await runtime.run({ snapshot: snapshotOf(tools), input: "Go.", principal: "ada", threadId: command.threadId })
      )
    case "resume": {
      const { answer, approver, answerId, expect, ticketId } = command
      const more = { ...(answerId === undefined ? {} : { answerId }), ...(expect === undefined ? {} : { expect }) }
      return told(await runtime.resume(ticketId, answer, { approver, ...more }))
    }
    case "cancel":
    case "pause":
    case "unpause":
      return told(await runtime[command.do]({ threadId: command.threadId }))
    case "steer":
      return told(await runtime.steer({ threadId: command.threadId, input: command.input }))
    case "resolve": {
      const { happened, operationId, threadId } = command
      const resolution =
        happened === undefined
          ? ({ _tag: "DidNotHappen" } as const)
          : ({ _tag: "Happened", content: [{ type: "text", text: happened }] } as const)
      return told(await runtime.resolve({ threadId, operationId, by: "ada", resolution }))
    }
    case "takeOver":
      return tellRecovered(await runtime.recover({ threadId: command.threadId, takeOver: true }))
    case "recover":
      return tellRecovered(await runtime.recover())
    case "view":
      return tellView(await Effect.runPromise(store.load(command.threadId)))
    case "close":
      return leave(command.grace)
  }
}

const tellRecovered = (recovered: Awaited<ReturnType<PromiseRuntime["recover"]>>): ReadonlyArray<Told> =>
  recovered.map(({ error, outcome }) =>
    outcome === undefined
      ? { disposition: error?.reason._tag ?? "nothing", text: "", tickets: [], messages: [] }
      : told(outcome)
  )

const leave = async (grace: number): Promise<string> => {
  await runtime.close({ grace })
  await close()
  return "closed"
}

const lines = createInterface({ input: process.stdin })
process.once("SIGTERM", () => {
  leave(options.grace ?? 5_000).then(
    () => {
      print({ closed: true })
      process.exit(0)
    },
    (error: unknown) => {
      print({ failed: String(error) })
      process.exit(1)
    }
  )
})
const reasonOf = (error: unknown): string => {
  const reason = typeof error === "object" && error !== null && "reason" in error ? error.reason : String(error)
  return typeof reason === "object" && reason !== null && "_tag" in reason ? String(reason._tag) : String(reason)
}
lines.on("line", (line) => {
  const { id, ...command } = JSON.parse(line) as TerminalCommand & { readonly id: number }
  obey(command as TerminalCommand).then(
    (value) => print({ id, value }),
    (error: unknown) => print({ id, refused: reasonOf(error) })
  )
})
print({ ready: true })
