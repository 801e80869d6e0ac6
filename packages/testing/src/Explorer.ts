/**
 * Walks every state that the kernel can reach, and looks for one that must not be.
 *
 * Guarantees: exhaustive up to a fixpoint for the scenarios it is given; commits, lost requests and replies, crashes at
 * every commit boundary, take-over of live owners, answers, expiry, edits and cancels in every order; the functions it
 * walks are those that run in production.
 * Does not run the engine: the shell around the kernel is the explorer's own, with every choice that an engine has.
 */
import { ResumeTicket, StoreRules, ThreadFold, ToolBatch } from "@toolwright/runtime-contract"
import { Keys } from "./internal/explorerKey.js"
import { movesOf } from "./internal/explorerMoves.js"
import { modesDisagree, scenariosOf } from "./internal/explorerScenarios.js"
import { initial, type Kernel, pathOf, type Scenario, type State } from "./internal/explorerState.js"

export type { CallKind, Kernel, Scenario, ScenarioCall } from "./internal/explorerState.js"

/** The kernel that runs in production. */
export const productionKernel: Kernel = {
  transition: ToolBatch.transition,
  plan: ToolBatch.plan,
  recover: ToolBatch.recover,
  sealing: ToolBatch.sealing,
  decide: ResumeTicket.decide,
  refusalOfCommit: StoreRules.refusalOfCommit,
  refusalOfRepeat: StoreRules.refusalOfRepeat,
  refusalOfSignal: StoreRules.refusalOfSignal,
  apply: (view, commit) => {
    const fold = ThreadFold.from(view)
    fold.apply(commit)
    return fold.view(view.epoch)
  }
}

/** Something that must not be, and the shortest way found to it. */
export interface Violation {
  readonly what: string
  readonly scenario: Scenario
  readonly path: ReadonlyArray<string>
}

export interface Exploration {
  readonly scenarios: number
  readonly states: number
  readonly moves: number
  /** Every way in which a call came out, as `ask NeverReplay Completed`, sorted: what was not walked does not stand here. */
  readonly outcomes: ReadonlyArray<string>
  readonly violations: ReadonlyArray<Violation>
}

export interface ExploreOptions {
  /** Default: every scenario of up to three calls. */
  readonly scenarios?: ReadonlyArray<Scenario>
  /** Default: the production kernel. */
  readonly kernel?: Kernel
  /** Stops behind so many violations; default 10. */
  readonly maxViolations?: number
  /** A scenario with more states than this has no end in sight, which is a violation too. Default 2,000,000. */
  readonly maxStates?: number
  /** Told behind each scenario. */
  readonly progress?: (scenario: Scenario, states: number) => void
}

/** All scenarios of up to so many calls, at most three. */
export const scenarios = (calls: 1 | 2 | 3): ReadonlyArray<Scenario> => scenariosOf(calls)

export const explore = (options: ExploreOptions = {}): Exploration => {
  const kernel = options.kernel ?? productionKernel
  const given = options.scenarios ?? scenariosOf(3)
  const most = options.maxViolations ?? 10
  const violations: Array<Violation> = []
  const outcomes = new Set<string>()
  let states = 0
  let moves = 0
  const disagreement = modesDisagree(kernel)
  if (disagreement !== undefined) violations.push({ what: disagreement, scenario: { calls: [] }, path: [] })
  for (const scenario of given) {
    const walked = walk({
      kernel,
      scenario,
      most: most - violations.length,
      maxStates: options.maxStates ?? 2_000_000,
      outcomes
    })
    violations.push(...walked.violations)
    states += walked.states
    moves += walked.moves
    options.progress?.(scenario, walked.states)
    if (violations.length >= most) break
  }
  return { scenarios: given.length, states, moves, outcomes: [...outcomes].toSorted(), violations }
}

/** Breadth first, so that the way to a violation is a shortest one. */
const walk = (given: {
  readonly kernel: Kernel
  readonly scenario: Scenario
  readonly most: number
  readonly maxStates: number
  readonly outcomes: Set<string>
}): Omit<Exploration, "scenarios" | "outcomes"> => {
  const { kernel, maxStates, most, outcomes, scenario } = given
  const reach = (outcome: string): unknown => outcomes.add(outcome)
  const violations: Array<Violation> = []
  const first = initial(scenario)
  let at: State = first
  const told = new Set<string>()
  const violate = (what: string): void => {
    if (told.has(what)) return
    told.add(what)
    violations.push({ what, scenario, path: pathOf(at) })
  }
  const keys = new Keys(scenario)
  const seen = new Set<string>([keys.of(first)])
  let level: ReadonlyArray<State> = [first]
  let moves = 0
  while (level.length > 0 && violations.length < most) {
    const following: Array<State> = []
    if (seen.size > maxStates) {
      violate(`more than ${maxStates} states and no end in sight`)
      break
    }
    for (const state of level) {
      at = state
      for (const next of movesOf(state, { kernel, scenario, violate, reach })) {
        moves++
        const key = keys.of(next)
        if (seen.has(key)) continue
        seen.add(key)
        following.push(next)
      }
    }
    level = following
  }
  return { states: seen.size, moves, violations }
}
