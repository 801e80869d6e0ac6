/**
 * Ids as SQLite text, so that its byte order is the order of UTF-16 code units, and any string comes back as it was.
 *
 * Guarantees: injective, order preserving, and the identity for ids without a NUL and below U+D800, which is nearly all
 * of them. SQLite compares UTF-8, which orders by code point; it also cannot hold half a surrogate pair.
 */
const firstSurrogate = 0xd800
const firstBehindTheBasicPlane = 0x10000

/** Code units from U+D800 move, in order, behind the basic plane. NUL, where text could end, becomes a pair behind U+0001. */
export const toOrderedText = (id: string): string => {
  if (isPlain(id)) return id
  let text = ""
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index)
    if (unit <= 1) text += String.fromCharCode(1, unit + 1)
    else if (unit < firstSurrogate) text += String.fromCharCode(unit)
    else text += String.fromCodePoint(firstBehindTheBasicPlane + unit - firstSurrogate)
  }
  return text
}

export const fromOrderedText = (text: string): string => {
  if (isPlain(text)) return text
  let id = ""
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index) ?? 0
    if (point === 1) id += String.fromCharCode(text.charCodeAt(++index) - 1)
    else if (point < firstBehindTheBasicPlane) id += String.fromCharCode(point)
    else {
      id += String.fromCharCode(point - firstBehindTheBasicPlane + firstSurrogate)
      index++
    }
  }
  return id
}

const isPlain = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= 1 || unit >= firstSurrogate) return false
  }
  return true
}
