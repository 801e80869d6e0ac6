/**
 * The demo: a terminal conversation with an agent that calls tools, in the order in which it is put together.
 */
import { Runtime } from "@toolwright/runtime"
import { snapshotFor, toolsOf } from "./Agent.js"
import { Approval } from "./Approval.js"
import { ApprovalPage } from "./ApprovalPage.js"
import { type CommandLine, CommandLineError, readCommandLine, usage } from "./CommandLine.js"
import { Conversation, person } from "./Conversation.js"
import { explain } from "./Explain.js"
import { openFolder } from "./Folder.js"
import { takeHands } from "./Hands.js"
import { chooseModel } from "./Models.js"
import { openingOf } from "./Opening.js"
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
  const folder = openFolder(wanted)
  const policy = readPolicy(wanted.policy, folder?.path ?? process.cwd())
  policy.plan(wanted.plan)
  const model = await chooseModel(wanted.model, process.env)
  const weather = wanted.offline ? recordedSource : liveSource(addressesOf(wanted.weather))
  const hands = folder === undefined ? undefined : await takeHands(folder, { policy, wanted })
  const tools = [...toolsOf({ weather, notes: wanted.notes }), ...(hands?.tools ?? [])]
  const gate = [policy.gate, ...(hands?.gates ?? [])]
  const executors = hands?.executors ?? {}
  const crashPoint = crashAt(wanted.crashAt)
  const runtime = Runtime.make({ llm: model.llm, gate, tools, executors, store, leaseTtl, crashPoint })

  const screen = new Screen(
    paperFor(wanted),
    (toolId) => tools.find((tool) => tool.spec().id === toolId)?.spec().inputSchema
  )
  const threads = new Threads(store)
  const console = new Console(() => session.interrupt())
  const explaining = { gate: policy.gate, tools, screen }
  const page = new ApprovalPage({ screen, folder: folder?.path })
  const approval = new Approval({ ...explaining, ask: console.ask, threads, runtime, page })
  const snapshot = snapshotFor(model.binding, { hasFolder: folder !== undefined })
  const parts = { runtime, screen, threads }
  const conversation = new Conversation({ ...parts, snapshot, ...(console.isAttended ? { approval } : {}) })
  const terminal = new Terminal({
    ...parts,
    person,
    policy,
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
    opening: openingOf({ model: model.binding, tools: snapshot.tools.length, folder, hands }),
    prompt: () => (policy.isPlan ? "plan › " : "› ")
  })

  try {
    for (const warning of hands?.warnings ?? []) screen.note(warning, "yellow")
    if (wanted.action !== undefined) return await terminal.act(wanted, wanted.action)
    await terminal.open(wanted, session)
    if (wanted.request !== "") await session.once(wanted.request)
    else if (console.isAttended) await session.talk()
    else await session.eachLine()
    if (wanted.json) print(session.transcript())
    if (folder?.isCopy === true && folder.isKept) screen.note(`The scratch copy stays in ${folder.path}`)
    return session.exitCode
  } finally {
    console.close()
    await runtime.close({ grace: 1_000 })
    await hands?.close()
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
