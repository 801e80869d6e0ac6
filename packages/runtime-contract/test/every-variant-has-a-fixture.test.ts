// The recorded records of version 1 hold every variant that the schemas of version 1 know. A variant that is new is red here
// until it has been recorded: `RECORD=1 vitest run every-variant` appends what is missing, and nothing ever leaves the file.
import { appendFileSync, readFileSync } from "node:fs"
import type { TSchema } from "typebox"
import { describe, expect, it } from "vitest"
import { commitRecord, signalRecord, snapshotRecord } from "../src/internal/threadSchemas.js"
import { ticketRecord } from "../src/internal/batchSchemas.js"
import { isJsonObject, type Json } from "../src/Json.js"
import * as Records from "../src/records.js"
import type { ExecutableAgentSnapshot } from "../src/Snapshot.js"
import { commits, signals, snapshots, tickets } from "./everyVariant.js"

const file = new URL("fixtures/every-variant-v1.jsonl", import.meta.url)

type Kind = "snapshot" | "commit" | "signal" | "ticket"

interface Recorded {
  readonly kind: Kind
  readonly text: string
}

const recordedIn = (text: string): ReadonlyArray<Recorded> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [kind = ""] = line.split(" ", 1)
      return { kind: kind as Kind, text: line.slice(kind.length + 1) }
    })

/** The parts of a schema, as far as they are looked at. */
interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Node
  readonly anyOf?: ReadonlyArray<Node>
  readonly enum?: ReadonlyArray<string>
  readonly const?: string
}

const nodeOf = (schema: TSchema): Node => JSON.parse(JSON.stringify(schema)) as Node

/** What tells a branch of a union from the others. */
const nameOf = (branch: Node): string => {
  for (const field of ["_tag", "type", "role"]) {
    const named = branch.properties?.[field]?.const
    if (named !== undefined) return `${field}=${named}`
  }
  throw new Error("a branch of a union has no name")
}

const hasName = (branch: Node, value: Json): boolean => {
  const [field = "", name] = nameOf(branch).split("=")
  return isJsonObject(value) && value[field] === name
}

/** The same part in two places of the records is one part, named by its first place. */
const names = new Map<string, string>()
const partAt = (node: Node, at: string): string => {
  const text = JSON.stringify(node)
  const name = names.get(text) ?? at
  names.set(text, name)
  return name
}

/** Everything that a schema can hold: each branch, each word of a choice, each field, something in each list. */
function* placesOf(node: Node, place: string): Generator<string> {
  const at = partAt(node, place)
  for (const word of node.enum ?? []) yield `${at}=${JSON.stringify(word)}`
  for (const branch of node.anyOf ?? []) yield* placesOf(branch, `${at}<${nameOf(branch)}>`)
  for (const [field, inner] of Object.entries(node.properties ?? {})) {
    yield `${at}.${field}`
    yield* placesOf(inner, `${at}.${field}`)
  }
  if (node.items === undefined) return
  yield `${at}[]`
  yield* placesOf(node.items, `${at}[]`)
}

/** Which of them a value holds. */
function* heldBy(value: Json, { node, place }: { readonly node: Node; readonly place: string }): Generator<string> {
  const at = partAt(node, place)
  if (node.enum !== undefined) yield `${at}=${JSON.stringify(value)}`
  for (const branch of node.anyOf ?? [])
    if (hasName(branch, value)) yield* heldBy(value, { node: branch, place: `${at}<${nameOf(branch)}>` })
  for (const [field, inner] of Object.entries(node.properties ?? {})) {
    const held = isJsonObject(value) ? value[field] : undefined
    if (held === undefined) continue
    yield `${at}.${field}`
    yield* heldBy(held, { node: inner, place: `${at}.${field}` })
  }
  if (node.items === undefined || !Array.isArray(value)) return
  for (const item of value as ReadonlyArray<Json>) {
    yield `${at}[]`
    yield* heldBy(item, { node: node.items, place: `${at}[]` })
  }
}

const kinds = ["snapshot", "commit", "signal", "ticket"] as const
const nodes: Readonly<Record<Kind, Node>> = {
  snapshot: nodeOf(snapshotRecord),
  commit: nodeOf(commitRecord),
  signal: nodeOf(signalRecord),
  ticket: nodeOf(ticketRecord)
}
const known = new Map(kinds.map((kind) => [kind, new Set(placesOf(nodes[kind], kind))]))
const held = ({ kind, text }: Recorded): ReadonlyArray<string> => [
  ...heldBy(JSON.parse(text) as Json, { node: nodes[kind], place: kind })
]

/** Records that hold something new beside those that are there. */
const missing = (recorded: ReadonlyArray<Recorded>): ReadonlyArray<Recorded> => {
  const seen = new Set(recorded.flatMap(held))
  const candidates: ReadonlyArray<Recorded> = [
    ...snapshots.map((one) => ({ kind: "snapshot" as const, text: Records.encodeSnapshot(one) })),
    ...commits.map((one) => ({ kind: "commit" as const, text: Records.encodeCommit(one) })),
    ...signals.map((one) => ({ kind: "signal" as const, text: Records.encodeSignal(one) })),
    ...tickets.map((one) => ({ kind: "ticket" as const, text: Records.encodeTicket(one) }))
  ]
  return candidates.filter((one) => {
    const places = held(one)
    const isNew = places.some((place) => !seen.has(place))
    for (const place of places) seen.add(place)
    return isNew
  })
}

if (process.env["RECORD"] === "1")
  for (const { kind, text } of missing(recordedIn(readFileSync(file, { encoding: "utf8", flag: "a+" }))))
    appendFileSync(file, `${kind} ${text}\n`)

const recorded = recordedIn(readFileSync(file, "utf8"))

const pinned = new Map<string, ExecutableAgentSnapshot>()
const position = "fixture"
const again: Readonly<Record<Kind, (text: string) => string>> = {
  snapshot: (text) => {
    const snapshot = Records.decodeSnapshot(text, { position })
    pinned.set(snapshot.fingerprint, snapshot)
    return Records.encodeSnapshot(snapshot)
  },
  commit: (text) =>
    Records.encodeCommit(Records.decodeCommit(text, { position, snapshot: (fingerprint) => pinned.get(fingerprint) })),
  signal: (text) => Records.encodeSignal(Records.decodeSignal(text, { position })),
  ticket: (text) => Records.encodeTicket(Records.decodeTicket(text, { position }))
}

describe("records that version 1 wrote", () => {
  it("[R11] are read, and are written again as they were", () => {
    // The order of fields says nothing.
    const written: ReadonlyArray<unknown> = recorded.map(({ kind, text }): unknown => JSON.parse(again[kind](text)))
    expect(written).toEqual(recorded.map(({ text }): unknown => JSON.parse(text)))
  })

  const seen = new Set(recorded.flatMap(held))

  it.each(kinds)("[R11] hold every variant, word and field of a %s", (kind) => {
    const places = [...(known.get(kind) ?? [])]
    expect(places.filter((place) => !seen.has(place))).toEqual([])
    expect(places.length).toBeGreaterThan(10)
  })

  it("[R11] a variant that is new is missed", () => {
    const refund: Node = { properties: { _tag: { const: "Refund" }, amount: {} } }
    const wider = { anyOf: [...(nodes.signal.properties?.["body"]?.anyOf ?? []), refund] }
    expect([...placesOf(wider, "body")].filter((place) => !seen.has(place))).toEqual([
      "body<_tag=Refund>._tag",
      "body<_tag=Refund>.amount"
    ])
  })
})
