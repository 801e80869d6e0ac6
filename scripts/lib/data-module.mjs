// Loads a TypeScript file that holds nothing but data, on a Node that cannot strip types.
import { join } from "node:path"
import { transformWithOxc } from "vite"
import { read, root } from "./tree.mjs"

export const importData = async (path) => {
  const { code } = await transformWithOxc(read(path), join(root, path))
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}
