/**
 * Whether what a runtime was given in the place of a port has the methods that will be called.
 *
 * Guarantees: a port that lacks one is named when the runtime is built, not in the middle of a run; a hook whose phase is
 * misspelt is refused, for it would look on at nothing.
 * Does not call any of them.
 */
import { type RunHook, type ThreadStore, ToolArgs } from "@toolwright/runtime-contract"

/** Where something is missing, and what. */
export interface Missing {
  readonly option: string
  readonly expected: string
  readonly received: unknown
}

interface Port {
  readonly option: string
  readonly what: string
  readonly methods: ReadonlyArray<string>
}

export const missingMethod = (given: unknown, { option, what, methods }: Port): Missing | undefined => {
  if (!isObject(given)) return { option, expected: what, received: given }
  for (const method of methods)
    if (typeof given[method] !== "function")
      return { option, expected: `${what} with a ${method} method`, received: given }
  return undefined
}

const storeNames: Readonly<Record<Exclude<keyof ThreadStore.ThreadStore, "isProcessLocal" | "subscribe">, true>> = {
  commit: true,
  load: true,
  tail: true,
  claim: true,
  renew: true,
  release: true,
  signal: true,
  inbox: true,
  ticket: true,
  due: true,
  list: true,
  delete: true,
  shared: true
}

export const storeMethods: ReadonlyArray<string> = Object.keys(storeNames)

const hookNames: Readonly<Record<keyof RunHook.RunHook, true>> = {
  id: true,
  stepStart: true,
  beforeInference: true,
  afterInference: true,
  afterTool: true,
  stepEnd: true
}

/** A hook may have members of its own; one that is nearly a phase was meant to be it. */
export const misspeltPhase = (hook: object, option: string): Missing | undefined => {
  const names = Object.keys(hookNames)
  for (const member of Object.keys(hook)) {
    const meant = Object.hasOwn(hookNames, member) ? undefined : ToolArgs.nearestName(member, names)
    if (meant !== undefined && meant !== "id")
      return { option: `${option}/${member}`, expected: meant, received: "an unknown phase" }
  }
  for (const [phase, value] of Object.entries(hook))
    if (phase !== "id" && Object.hasOwn(hookNames, phase) && value !== undefined && typeof value !== "function")
      return { option: `${option}/${phase}`, expected: "a function", received: value }
  return undefined
}

/** What may have members: a function may, as an object may. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  (typeof value === "object" || typeof value === "function") && value !== null
