/**
 * The demo: a terminal conversation with an agent that calls tools, in the order in which it is put together.
 */
import { Runtime } from "@toolwright/runtime"
import { snapshotFor, toolsOf } from "./Agent.js"
import { Approval } from "./Approval.js"
import { ApprovalPage } from "./ApprovalPage.js"
import { Audit } from "./Audit.js"
import { type CommandLine, CommandLineError, readCommandLine, usage } from "./CommandLine.js"
import { Conversation, person } from "./Conversation.js"
import { explain } from "./Explain.js"
import { type Folder, openFolder } from "./Folder.js"
import { type Hands, takeHands } from "./Hands.js"
import { type ChosenModel, chooseModel } from "./Models.js"
import { openingOf } from "./Opening.js"
import { Page } from "./Page.js"
import { type DemoPolicy, readPolicy } from "./Policy.js"
import { rememberedFor } from "./Remembering.js"
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
  const storage = await openStorage(wanted)
  try {
    // Whoever looks into a record needs no model, no tools and no owner.
    if (wanted.audit !== undefined) return await new Audit(storage.store, new Page(paperFor(wanted))).show(wanted.audit)
    return await run(wanted, storage)
  } finally {
    await storage.close()
  }
}

const run = async (wanted: CommandLine, storage: Storage): Promise<number> => {
  const folder = openFolder(wanted)
  const policy = readPolicy(wanted.policy, folder?.path ?? process.cwd())
  policy.plan(wanted.plan)
  const model = await chooseModel(wanted.model, process.env)
  const hands = folder === undefined ? undefined : await takeHands(folder, { policy, wanted })
  try {
    return await converse(wanted, { storage, folder, policy, model, hands })
  } finally {
    await hands?.close()
  }
}

interface Parts {
  readonly storage: Storage
  readonly folder: Folder | undefined
  readonly policy: DemoPolicy
  readonly model: ChosenModel
  readonly hands: Hands | undefined
}

const converse = async (wanted: CommandLine, parts: Parts): Promise<number> => {
  const { folder, policy, model, hands } = parts
  const { store } = parts.storage
  const weather = wanted.offline ? recordedSource : liveSource(addressesOf(wanted.weather))
  const tools = [...toolsOf({ weather, notes: wanted.notes }), ...(hands?.tools ?? [])]
  const schemaOf = (id: string) => tools.find((tool) => tool.spec().id === id)?.spec().inputSchema
  const runtime = Runtime.make({
    llm: model.llm,
    gate: [policy.gate, ...(hands?.gates ?? [])],
    tools,
    executors: hands?.executors ?? {},
    store,
    leaseTtl,
    crashPoint: crashAt(wanted.crashAt)
  })

  const screen = new Screen(paperFor(wanted), schemaOf)
  const threads = new Threads(store)
  const shared = { runtime, screen, threads }
  const console = new Console(() => session.interrupt())
  const remembered = () => rememberedFor({ principal: person, threadId: conversation.threadId }, runtime)
  const explaining = { gate: policy.gate, tools, screen, remembered }
  const page = new ApprovalPage({ screen, folder: folder?.path })
  const approval = new Approval({ ...explaining, ...shared, ask: console.ask, page, folder: folder?.path })
  const snapshot = snapshotFor(model.binding, { hasFolder: folder !== undefined })
  const conversation = new Conversation({ ...shared, snapshot, ...(console.isAttended ? { approval } : {}) })
  const terminal = new Terminal({
    ...shared,
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
    // A talk begins with them; of a scratch copy nothing else has to be known.
    const isTalk = wanted.request === "" && console.isAttended
    if (!isTalk && wanted.workspace !== undefined) for (const one of hands?.remarks ?? []) screen.note(one, "yellow")
    if (wanted.action !== undefined) return await terminal.act(wanted, wanted.action)
    await terminal.open(wanted, session)
    if (wanted.request !== "") await session.once(wanted.request)
    else if (console.isAttended) await session.talk()
    else if ((await session.eachLine()) === 0 && wanted.db === undefined)
      screen.note(
        'Nothing was asked. Say it behind "--", pipe in one request for each line, or start in a terminal; --help.'
      )
    if (wanted.json) print(session.transcript())
    if (folder?.isCopy === true && folder.isKept) screen.note(`The scratch copy stays in ${folder.path}`)
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
