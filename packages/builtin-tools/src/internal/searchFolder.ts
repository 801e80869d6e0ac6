/**
 * The folder of a searching call, held open.
 *
 * Guarantees: a path that is no folder is refused as an argument, with what to use instead.
 */
import type { HeldDirectory } from "./heldDirectory.js"
import { refuse } from "./fileRefusals.js"
import type { Found } from "./walkPath.js"

/** Opens it; the caller closes it. */
export const openFolder = (
  found: Found,
  { toolId, path }: { readonly toolId: string; readonly path: string }
): { readonly directory: HeldDirectory; readonly close: () => void } => {
  if (found.name === "") return { directory: found.parent, close: () => {} }
  if (found.entry?.isDirectory() !== true) {
    const received =
      found.entry === undefined
        ? `${JSON.stringify(path)}, which does not exist`
        : `${JSON.stringify(path)}, which is no folder`
    throw refuse({
      toolId,
      pointer: "/path",
      expected: "a folder",
      received,
      fix: "leave path out for the whole workspace"
    })
  }
  const directory = found.parent.open(found.name)
  return { directory, close: directory.close }
}
