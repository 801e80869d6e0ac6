/**
 * The file tools of one workspace, erased, sharing what they know of versions that were seen.
 *
 * Guarantees: a read by one of them counts for the others.
 * Does not choose who may use them: a gate does.
 */
import type { RawTool } from "@toolwright/runtime-contract"
import { deletePath } from "./Delete.js"
import { edit } from "./Edit.js"
import { erase } from "./erase.js"
import { glob } from "./Glob.js"
import { grep } from "./Grep.js"
import { SeenFiles } from "./internal/filesSeen.js"
import { list } from "./List.js"
import { move } from "./Move.js"
import { read } from "./Read.js"
import type { Workspace } from "./Workspace.js"
import { write } from "./Write.js"

/** `read`, `write`, `edit`, `move`, `delete`, `list`, `glob` and `grep`, in this order. */
export const fileTools = (workspace: Workspace): ReadonlyArray<RawTool.RawTool> => {
  const place = { workspace, seen: new SeenFiles() }
  return [
    erase(read(place)),
    erase(write(place)),
    erase(edit(place)),
    erase(move(place)),
    erase(deletePath(place)),
    erase(list(place)),
    erase(glob(place)),
    erase(grep(place))
  ]
}
