/**
 * The demo: a terminal conversation with an agent that calls tools, in the order in which it is put together.
 */
import { Runtime } from "@toolwright/runtime"
import { snapshotFor, toolsOf } from "./Agent.js"
import { Approval } from "./Approval.js"
import { type CommandLine, CommandLineError, readCommandLine, usage } from "./CommandLine.js"
import { Conversation, person } from "./Conversation.js"
import { explain } from "./Explain.js"
import { rememberedFor } from "./Remembering.js"
import { chooseModel } from "./Models.js"
import { readPolicy } from "./Policy.js"
import { Screen } from "./Screen.js"
import { Session } from "./Session.js"
import { openStorage, type Storage } from "./Storage.js"
import { Terminal } from "./Terminal.js"
import { Threads } from "./Threads.js"
import { liveSource, recordedSource } from "./Weather.js"
import { Console } from "./internal/console.js"
import { crashAt } from "./internal/crash.js"
import { addressesOf } from "./internal/openMeteo.js"
import { leaseTtl } from "./internal/patiently.js"
import { failureText, paperFor, quietPipes, quietWarnings } from "./internal/standardStreams.js"

const main = async (): Promise<number> => {
  const wanted = readCommandLine(process.argv.slice(2), process.env)
  if (wanted.help) return print(usage)
  const storage = await openStorage(wanted.db)
  try {
    return await run(wanted, storage)
  } finally {
    await storage.close()
  }
}

const run = async (wanted: CommandLine, { store }: Storage): Promise<number> => {
  const gate = readPolicy(wanted.policy)
  const model = await chooseModel(wanted.model, process.env)
  const weather = wanted.offline ? recordedSource : liveSource(addressesOf(wanted.weather))
  const tools = toolsOf({ weather, notes: wanted.notes })
  const runtime = Runtime.make({ llm: model.llm, gate, tools, store, leaseTtl, crashPoint: crashAt(wanted.crashAt) })

  const screen = new Screen(paperFor(wanted))
  const threads = new Threads(store)
  const console = new Console(() => session.interrupt())
  const remembered = () => rememberedFor({ principal: person, threadId: conversation.threadId }, runtime)
  const explaining = { gate, tools, screen, remembered }
  const approval = new Approval({ ...explaining, ask: console.ask, threads, runtime })
  const snapshot = snapshotFor(model.binding)
  const parts = { runtime, screen, threads }
  const conversation = new Conversation({ ...parts, snapshot, ...(console.isAttended ? { approval } : {}) })
  const terminal = new Terminal({
    ...parts,
    person,
    conversation,
    console,
    explain: (text) => explain(text, explaining)
  })
  const session = new Session({
    conversation,
    console,
    screen,
    print,
    commands: terminal.commands,
    model: model.binding
  })

  try {
    if (wanted.action !== undefined) return await terminal.act(wanted, wanted.action)
    await terminal.open(wanted, session)
    if (wanted.request !== "") await session.once(wanted.request)
    else if (console.isAttended) await session.talk()
    else await session.eachLine()
    if (wanted.json) print(session.transcript())
    return session.exitCode
  } finally {
    console.close()
    await runtime.close({ grace: 1_000 })
  }
}

const print = (text: string): number => {
  process.stdout.write(text)
  return 0
}

// The waits of a runtime keep no process alive by themselves.
const alive = setInterval(() => {}, 60_000)
quietPipes()
quietWarnings()
try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(failureText(error))
  process.exitCode = error instanceof CommandLineError ? 2 : 1
} finally {
  clearInterval(alive)
}
