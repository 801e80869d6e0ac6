/**
 * The named places at which a test may let the runtime die, to prove that nothing is lost or done twice.
 *
 * Guarantees: a no-op unless a test provides one; called synchronously, so a process that kills itself inside is dead
 * before the next line of the runtime runs; the list of names is closed and in the order of a run.
 * Does not recover anything: recovery does not know that it was a test.
 */
import * as Context from "effect/Context"

/** Before a commit leaves for the store, and after the store has acknowledged it. */
const commits = [
  "start",
  "open",
  "approve",
  "change",
  "await",
  "publish",
  "end",
  "steer",
  "resolve",
  "recover"
] as const

/** What a commit is for. `open`, `change` and `publish` are the commits (a), (b) and (c) of a step. */
export type CommitKind = (typeof commits)[number]

export type CrashPointName =
  | `${CommitKind}.beforeCommit`
  | `${CommitKind}.afterCommit`
  /** The thread is claimed and loaded; nothing was done yet. */
  | "claimed"
  /** The request is about to go to the model; the turn has come back whole. */
  | "inference.before"
  | "inference.after"
  /** `Executing` is durable, the tool was not called yet; the tool was called. */
  | "dispatch.before"
  | "dispatch.after"
  /** The tool has answered; the outcome is not durable yet. */
  | "outcome.known"
  /** Every call has its outcome; results and reactions are being put together. */
  | "publication.assembled"
  /** An answer or another signal is durable; no owner has acted on it. */
  | "signal.accepted"
  /** A call of an earlier owner is about to be looked at. */
  | "recovery.before"
  /** The lease is about to be given back; it was given back. */
  | "release.before"
  | "release.after"

/** Every name, in the order in which a run can meet them. */
export const names: ReadonlyArray<CrashPointName> = Object.freeze([
  "claimed",
  "recovery.before",
  "inference.before",
  "inference.after",
  "dispatch.before",
  "dispatch.after",
  "outcome.known",
  "publication.assembled",
  "signal.accepted",
  ...commits.flatMap((kind): ReadonlyArray<CrashPointName> => [`${kind}.beforeCommit`, `${kind}.afterCommit`]),
  "release.before",
  "release.after"
])

/**
 * Called at each point. It may kill the process, or throw: then the run that met the point is dropped on the spot, as if
 * its process had died, with its lease still held and nothing more committed.
 */
export type CrashPoint = (point: CrashPointName) => void

/** Does nothing by default. */
export const current: Context.Reference<CrashPoint> = Context.Reference<CrashPoint>("@toolwright/CrashPoint", {
  defaultValue: () => () => {}
})
