/**
 * Finds among many rules the few that a call can match, before any of them is asked.
 *
 * Guarantees: leaves a rule out only where its condition said beforehand under which keys it can match, and the call has
 * none of them, so that the verdict is the one of asking every rule; keeps their order; memory is that of the rules.
 * Does not decide, and does not know what a key is: the condition says so.
 */

/**
 * Where a condition can match at all: it is `Never` of a call, unless one of `keys` is the beginning of one of the
 * sequences that `find` gives for it. `undefined`: there is no telling, and it must be asked.
 */
export interface Narrowing<Call> {
  /** Conditions with the same scope have the same `find`. */
  readonly scope: string
  readonly keys: ReadonlyArray<ReadonlyArray<string>>
  readonly find: (call: Call) => ReadonlyArray<ReadonlyArray<string>> | undefined
}

interface Node {
  readonly next: Map<string, Node>
  readonly here: Array<number>
}

interface Scope<Call> {
  readonly find: Narrowing<Call>["find"]
  readonly root: Node
  readonly all: Array<number>
}

/** Fewer rules than this are asked faster than found. */
const fewest = 8

export class RuleIndex<Call> {
  readonly #every: ReadonlyArray<number>
  /** Rules that no key speaks of, in their order. */
  readonly #open: ReadonlyArray<number>
  readonly #scopes: ReadonlyArray<Scope<Call>>

  /** For each rule in its order what narrows it, if anything does. */
  constructor(narrowings: ReadonlyArray<Narrowing<Call> | undefined>) {
    this.#every = narrowings.map((_, at) => at)
    const scopes = new Map<string, Scope<Call>>()
    if (narrowings.length >= fewest)
      for (const [at, narrowing] of narrowings.entries()) if (narrowing !== undefined) enter(scopes, { at, narrowing })
    this.#scopes = [...scopes.values()]
    this.#open = this.#every.filter((at) => scopes.size === 0 || narrowings[at] === undefined)
  }

  /** Positions of the rules to ask, in their order. */
  candidates(call: Call): ReadonlyArray<number> {
    if (this.#scopes.length === 0) return this.#every
    let found: Array<number> | undefined
    for (const { find, root, all } of this.#scopes) {
      const sequences = find(call)
      if (sequences === undefined) (found ??= []).push(...all)
      else for (const sequence of sequences) found = collect(root, { sequence, found })
    }
    return found === undefined ? this.#open : merged(found, this.#open)
  }
}

const enter = <Call>(
  scopes: Map<string, Scope<Call>>,
  { at, narrowing }: { readonly at: number; readonly narrowing: Narrowing<Call> }
): void => {
  const { find, keys, scope } = narrowing
  const known = scopes.get(scope) ?? { find, root: makeNode(), all: [] }
  scopes.set(scope, known)
  known.all.push(at)
  for (const key of keys) {
    let node = known.root
    for (const part of key) {
      const next = node.next.get(part) ?? makeNode()
      node.next.set(part, next)
      node = next
    }
    node.here.push(at)
  }
}

const makeNode = (): Node => ({ next: new Map(), here: [] })

const collect = (
  root: Node,
  given: { readonly sequence: ReadonlyArray<string>; readonly found: Array<number> | undefined }
): Array<number> | undefined => {
  let { found } = given
  let node: Node | undefined = root
  for (let at = 0; node !== undefined; at++) {
    if (node.here.length > 0) (found ??= []).push(...node.here)
    const part = given.sequence[at]
    node = part === undefined ? undefined : node.next.get(part)
  }
  return found
}

const merged = (found: Array<number>, open: ReadonlyArray<number>): ReadonlyArray<number> => {
  if (found.length === 1 && open.length === 0) return found
  const all = open.length === 0 ? found : [...found, ...open]
  all.sort((left, right) => left - right)
  // A rule may be found under several keys.
  return all.filter((at, index) => index === 0 || at !== all[index - 1])
}
