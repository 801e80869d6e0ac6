/** Takes cups out of a stock. Gives a new stock; throws where there is too little of a kind. */
export const take = (stock, { kind, cups }) => {
  const left = (stock[kind] ?? 0) - cups
  if (left < 0) throw new RangeError(`not enough ${kind}: ${stock[kind] ?? 0} cups left`)
  // TODO: order more where the rest is small.
  return { ...stock, [kind]: left }
}
