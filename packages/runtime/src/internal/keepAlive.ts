/**
 * Keeps the process alive while a run is driven in it: a run that backs off before a retry, or waits for a deaf tool, is
 * at work, though nothing else may hold the event loop. A run at rest holds nothing.
 */
const longest = 2_147_483_647

let holders = 0
let handle: ReturnType<typeof setInterval> | undefined

/** Each `hold` is met by one `letGo`. */
export const hold = (): void => {
  if (holders++ === 0) handle = setInterval(nothing, longest)
}

export const letGo = (): void => {
  if (--holders > 0) return
  clearInterval(handle)
  handle = undefined
}

const nothing = (): void => {}
