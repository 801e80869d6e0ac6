/**
 * The folders that a module and what it imports live in, to be shown in the box read-only.
 *
 * Guarantees: the module's own package, the packages that it and they depend on, by their real paths; folders named
 * `node_modules` above it where links lead to.
 * Does not follow imports: what a manifest does not name is not shown.
 */
import * as fs from "node:fs"
import * as path from "node:path"

const mostPackages = 2_000

/** Real, absolute paths; none lies in another. */
export const packageRoots = (module: string): ReadonlyArray<string> => {
  const real = fs.realpathSync(module)
  const first = rootOf(path.dirname(real))
  // A file that belongs to no package is shown with its folder and nothing else.
  if (first === undefined) return [path.dirname(real)]
  const found = new Set<string>()
  const queue = [first]
  for (let root = queue.pop(); root !== undefined && found.size < mostPackages; root = queue.pop()) {
    if (found.has(root)) continue
    found.add(root)
    for (const name of dependenciesOf(root)) {
      const place = placeOf(root, name)
      if (place === undefined) continue
      found.add(place.folder)
      queue.push(place.root)
    }
  }
  return outermost([...found])
}

const rootOf = (folder: string): string | undefined => {
  for (let at = folder; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, "package.json"))) return at
    if (path.dirname(at) === at) return undefined
  }
}

const dependenciesOf = (root: string): ReadonlyArray<string> => {
  try {
    const manifest: unknown = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
    if (typeof manifest !== "object" || manifest === null) return []
    const members: ReadonlyArray<readonly [string, unknown]> = Object.entries(manifest)
    const lists = members.filter(([key]) => /^(optional|peer)?dependencies$/i.test(key))
    return lists.flatMap(([, list]) => (typeof list === "object" && list !== null ? Object.keys(list) : []))
  } catch {
    return []
  }
}

/** The folder that holds the link or package, and the package's real root. */
const placeOf = (root: string, name: string): { readonly folder: string; readonly root: string } | undefined => {
  for (let at = root; ; at = path.dirname(at)) {
    const folder = path.join(at, "node_modules")
    const candidate = path.join(folder, name)
    if (fs.existsSync(candidate)) return { folder, root: fs.realpathSync(candidate) }
    if (path.dirname(at) === at) return undefined
  }
}

export const outermost = (folders: ReadonlyArray<string>): ReadonlyArray<string> => {
  const kept: Array<string> = []
  for (const folder of [...new Set(folders)].sort()) if (!kept.some((one) => isInside(one, folder))) kept.push(folder)
  return kept
}

/** True for the folder itself as well. */
export const isInside = (folder: string, path_: string): boolean =>
  path_ === folder || path_.startsWith(folder.endsWith("/") ? folder : `${folder}/`)
