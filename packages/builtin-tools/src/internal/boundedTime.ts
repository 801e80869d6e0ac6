/**
 * Work of the language itself, interrupted when it takes too long, also in the middle of one regular expression.
 *
 * Guarantees: throws when time is up, whatever the work catches.
 * Does not wait: it is for work that never pauses, and this process does nothing else meanwhile.
 */
import * as vm from "node:vm"

interface Place {
  work: () => unknown
}

const program = new vm.Script("work()")
let made: { readonly place: Place; readonly context: vm.Context } | undefined

/** `most` is in milliseconds. */
export const inTime = <A>(most: number, work: () => A): A => {
  made ??= placeOf()
  let done: { readonly value: A } | undefined
  const take = (): void => {
    done = { value: work() }
  }
  made.place.work = take
  program.runInContext(made.context, { timeout: most })
  return valueOf(done)
}

const valueOf = <A>(done: { readonly value: A } | undefined): A => {
  if (done === undefined) throw new Error("the work did not end")
  return done.value
}

const placeOf = (): NonNullable<typeof made> => {
  const place: Place = { work: () => undefined }
  return { place, context: vm.createContext(place) }
}
