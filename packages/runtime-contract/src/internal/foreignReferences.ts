/**
 * Finds what the references of a foreign document mean, before anything in it is moved.
 *
 * Guarantees: only places inside the document are found; a reference that leaves it is never followed.
 * Does not rewrite anything.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { keysOf, pointerTo } from "./jsonPointer.js"
import { list } from "./schemaKeywords.js"

export class ForeignReferences {
  readonly #root: JsonObject
  /** Pointers of the nodes that have an `$id`, by the id as written and as resolved against its surroundings. */
  readonly #ids = new Map<string, string>()
  /** Pointers of anchors, by the pointer of their resource and their name. */
  readonly #anchors = new Map<string, string>()
  /** Each node with an `$id` starts a resource of its own: the base of references inside it. */
  readonly #resources = new Map<string, string>()

  constructor(root: JsonObject) {
    this.#root = root
    this.#index(root, { pointer: "", resource: "", base: "" })
  }

  /** The pointer that `reference`, written at `pointer`, means; `undefined` when it leads nowhere in this document. */
  resolve(reference: string, pointer: string): string | undefined {
    const resource = this.#resourceOf(pointer)
    const hash = reference.indexOf("#")
    const address = hash < 0 ? reference : reference.slice(0, hash)
    const fragment = hash < 0 ? "" : decode(reference.slice(hash + 1))
    const base = this.#resources.get(resource) ?? ""
    const start = address === "" ? resource : (this.#ids.get(address) ?? this.#ids.get(resolveAddress(address, base)))
    if (start === undefined) return undefined
    const target =
      fragment === "" || fragment.startsWith("/") ? start + fragment : this.#anchors.get(`${start}#${fragment}`)
    return target !== undefined && this.valueAt(target) !== undefined ? normal(target) : undefined
  }

  /** What stands at a pointer of the document. */
  valueAt(pointer: string): Json | undefined {
    let value: Json | undefined = this.#root
    for (const key of keysOf(pointer) ?? ["\u0000"])
      value = Array.isArray(value)
        ? list(value)[Number(key)]
        : isJsonObject(value) && Object.hasOwn(value, key)
          ? value[key]
          : undefined
    return value
  }

  #resourceOf(pointer: string): string {
    for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) if (this.#resources.has(at)) return at
    return ""
  }

  // Walks all of the document: definitions may lie under keywords that are not known.
  #index(value: Json, at: { readonly pointer: string; readonly resource: string; readonly base: string }): void {
    if (Array.isArray(value)) {
      list(value).forEach((item, index) => this.#index(item, { ...at, pointer: pointerTo(at.pointer, index) }))
      return
    }
    if (!isJsonObject(value)) return
    const { $id, $anchor } = value
    let { resource, base } = at
    // An id that is only a fragment is an anchor in draft-07.
    if (typeof $id === "string" && !$id.startsWith("#")) {
      resource = at.pointer
      base = resolveAddress($id.replace(/#$/, ""), base)
      for (const id of [$id.replace(/#$/, ""), base]) if (!this.#ids.has(id)) this.#ids.set(id, resource)
      this.#resources.set(resource, base)
    } else if (typeof $id === "string") this.#anchors.set(`${resource}${$id}`, at.pointer)
    if (typeof $anchor === "string") this.#anchors.set(`${resource}#${$anchor}`, at.pointer)
    for (const key of Object.keys(value))
      this.#index(value[key] ?? null, { pointer: pointerTo(at.pointer, key), resource, base })
  }
}

const resolveAddress = (address: string, base: string): string => {
  try {
    return new URL(address, base === "" ? undefined : base).href
  } catch {
    return address
  }
}

const decode = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** One spelling for each place. */
const normal = (pointer: string): string => (keysOf(pointer) ?? []).reduce<string>(pointerTo, "")
