/**
 * Tells from a text whether it is what certain edits made of an earlier one, of which only a mark is known.
 *
 * Guarantees: yes only where taking the edits back gives a text with that mark, and making them again gives this one; bounded
 * work, and "no" where the bound is met.
 * Does not find every way back: a text that also held what was put in everywhere is not recognised.
 */
import { replaceTexts, type TextEdit } from "./replaceTexts.js"

/** Characters that are looked at in all. */
const mostWork = 50_000_000

type Edit = TextEdit & { readonly pointer: string }

/** The number of replacements, or `undefined`. `isBefore` knows the earlier text by its mark. */
export const replacementsMade = (
  text: string,
  { edits, isBefore }: { readonly edits: ReadonlyArray<Edit>; readonly isBefore: (text: string) => boolean }
): number | undefined => {
  let work = 0
  const search = (now: string, left: number): string | undefined => {
    const edit = edits[left - 1]
    if (edit === undefined) return isBefore(now) ? now : undefined
    for (const earlier of waysBack(now, edit)) {
      work += earlier.length + 1
      if (work > mostWork) return undefined
      const found = search(earlier, left - 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  const before = search(text, edits.length)
  if (before === undefined) return undefined
  const again = replaceTexts(before, edits)
  return again.ok && again.text === text ? again.count : undefined
}

/** Texts that the edit would have made this one of. */
function* waysBack(now: string, edit: TextEdit): Generator<string> {
  const isMixed = now.includes("\r")
  const [old, fresh] = [edit.old_string, edit.new_string.toWellFormed()].map((part) =>
    isMixed ? part : part.replaceAll("\r\n", "\n")
  )
  if (old === undefined || fresh === undefined) return
  if (edit.replace_all && fresh !== "") yield now.split(fresh).join(old)
  for (
    let at = now.indexOf(fresh);
    at >= 0 && at <= now.length;
    at = fresh === "" ? at + 1 : now.indexOf(fresh, at + 1)
  )
    yield now.slice(0, at) + old + now.slice(at + fresh.length)
}
