/**
 * Holds a tool to the state keys that it declared (T11).
 *
 * Guarantees: undeclared keys can be neither read nor staged; a staged value fits the schema of its key; all or nothing.
 * Does not apply anything: staged commands are applied at publication.
 */
import { type StateKey, ToolError, type ToolOperation, ToolSchema } from "@toolwright/runtime-contract"
import type { Static, TSchema } from "@toolwright/runtime-contract/typebox"

export interface DeclaredState {
  readonly toolId: string
  /** By scope and name; with what checks a value of the key. */
  readonly keys: ReadonlyMap<
    string,
    { readonly key: StateKey.StateKey; readonly issuesOf: ReturnType<typeof ToolSchema.validatorFor> }
  >
}

export const declare = (toolId: string, keys: ReadonlyArray<StateKey.StateKey>): DeclaredState => ({
  toolId,
  keys: new Map(
    keys.map((key) => [
      placeOf(key.scope, key.name),
      { key, issuesOf: ToolSchema.validatorFor(ToolSchema.readOutput(key.schema).schema) }
    ])
  )
})

/** The operation with a view of declared state only. Reading another key throws `ToolError`. */
export const viewOf = (
  declared: DeclaredState,
  operation: ToolOperation.ToolOperation
): ToolOperation.ToolOperation => ({
  runId: operation.runId,
  threadId: operation.threadId,
  operationId: operation.operationId,
  callId: operation.callId,
  attempt: operation.attempt,
  epoch: operation.epoch,
  principal: operation.principal,
  state: new DeclaredView(declared, operation.state)
})

class DeclaredView implements StateKey.StateView {
  readonly #declared: DeclaredState
  readonly #state: StateKey.StateView
  constructor(declared: DeclaredState, state: StateKey.StateView) {
    this.#declared = declared
    this.#state = state
  }

  get<S extends TSchema>(key: StateKey.StateKey<S>): Static<S> | undefined {
    const { keys, toolId } = this.#declared
    if (keys.has(placeOf(key.scope, key.name))) return this.#state.get(key)
    throw ToolError.execution(`${toolId} reads the state ${placeOf(key.scope, key.name)}, which it does not declare`)
  }
}

/** Why the commands cannot be staged, or `undefined`. */
export const stagingProblem = (
  declared: DeclaredState,
  commands: ReadonlyArray<StateKey.StateCommand>
): string | undefined => {
  for (const command of commands) {
    const place = placeOf(command.scope, command.key)
    const found = declared.keys.get(place)
    if (found === undefined || found.key.merge !== command.merge)
      return `staged the state ${place}, which it does not declare`
    const [issue] = command._tag === "Set" ? found.issuesOf(command.value) : []
    if (issue !== undefined)
      return `staged a value for the state ${place} that does not fit: ${atPlace(issue.pointer)}expected ${issue.expected}, received ${issue.received}`
  }
  return undefined
}

const atPlace = (pointer: string): string => (pointer === "" ? "" : `at ${pointer}: `)

const placeOf = (scope: StateKey.StateScope, name: string): string => `${scope}/${name}`
