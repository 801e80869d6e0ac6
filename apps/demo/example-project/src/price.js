/** Cents for one cup, by the kind of tea. */
const cup = { green: 350, black: 300, rooibos: 320 }

/** Cents for some cups of one kind. Ten cups and more are a tenth cheaper. */
export const priceOf = (kind, cups) => {
  const full = cup[kind] * cups
  return cups > 10 ? Math.round(full * 0.9) : full
}

/** Cents with the tip of a guest, in percent. */
export const withTip = (cents, percent) => cents + Math.round((cents * percent) / 100)
