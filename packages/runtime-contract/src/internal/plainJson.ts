/**
 * Copies an in-process value into fresh JSON, refusing whatever JSON would change or lose without a word.
 *
 * Guarantees: runs no code of the value (no getter, no `toJSON`, no proxy trap), never throws, never changes it, and
 * names each member that is no JSON. Ends on cyclic and on huge values.
 * Does not know a schema.
 */
/// <reference lib="es2024.string" />
import { types } from "node:util"
import type { ArgumentIssue } from "../ToolError.js"
import { type Place, placeIn, pointerOf } from "./jsonPointer.js"
import { maxDepth } from "./jsonScanner.js"
import type { Fresh, FreshObject, RefusedJson } from "./strictJson.js"

/** How many members and items one value may have; sharing can make a small object graph an endless tree. */
const maxValues = 500_000

/** `hidden: "skip"` leaves out members that are not enumerable (TypeBox marks its schemas so) instead of refusing them. */
export interface CopyOptions {
  readonly hidden?: "refuse" | "skip"
  readonly maxDepth?: number
  readonly maxValues?: number
}

export interface CopiedJson {
  readonly ok: true
  readonly value: Fresh
  readonly depth: number
  readonly values: number
}

export const copyJson = (value: unknown, options: CopyOptions = {}): CopiedJson | RefusedJson => {
  const copier = new Copier(options)
  const copy = copier.copy(value, undefined)
  return copier.issues.length === 0
    ? { ok: true, value: copy, depth: copier.depth, values: copier.values }
    : { ok: false, issues: copier.issues }
}

/** Sets a member as data. Plain assignment to `__proto__` would change the prototype instead. */
export const setMember = <A>(object: { [key: string]: A }, [key, value]: readonly [string, A]): void => {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

class Copier {
  readonly issues: Array<ArgumentIssue> = []
  depth = 0
  values = 0
  readonly #open = new Set<object>()
  readonly #hidden: "refuse" | "skip"
  readonly #maxDepth: number
  readonly #maxValues: number

  constructor(options: CopyOptions) {
    this.#hidden = options.hidden ?? "refuse"
    this.#maxDepth = options.maxDepth ?? maxDepth
    this.#maxValues = options.maxValues ?? maxValues
  }

  copy(value: unknown, place: Place | undefined): Fresh {
    if (typeof value === "string") {
      if (value.isWellFormed()) return value
      return this.#refuse(place, { expected: "well-formed Unicode text", received: "half of a surrogate pair" })
    }
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value === 0 ? 0 : value
      return this.#refuse(place, { expected: "a finite number", received: String(value) })
    }
    if (value === null || typeof value === "boolean") return value
    return typeof value === "object" ? this.#container(value, place) : this.#notJson(value, place)
  }

  #container(value: object, place: Place | undefined): Fresh {
    const isOpen = this.#open.has(value)
    if (isOpen || this.#open.size >= this.#maxDepth) {
      const expected = isOpen ? "a JSON value" : `at most ${this.#maxDepth} levels of nesting`
      return this.#refuse(place, { expected, received: isOpen ? "a cycle" : "one level more" })
    }
    // Before anything that a proxy could answer.
    if (types.isProxy(value) || !isPlain(value)) return this.#notJson(value, place)
    this.#open.add(value)
    this.depth = Math.max(this.depth, this.#open.size)
    const copy = Array.isArray(value) ? this.#array(value, place) : this.#object(value, place)
    this.#open.delete(value)
    return copy
  }

  #object(value: object, place: Place | undefined): Fresh {
    const copy: FreshObject = {}
    for (const key of Reflect.ownKeys(value)) {
      if (this.#isFull(place)) break
      if (typeof key === "symbol") {
        this.#refuse(place, { expected: "string keys", received: "a symbol as key" })
        continue
      }
      const at = placeIn(place, key)
      if (!key.isWellFormed())
        this.#refuse(at, { expected: "well-formed Unicode keys", received: "half of a surrogate pair" })
      const item = this.#member(Object.getOwnPropertyDescriptor(value, key), at)
      if (item !== undefined) setMember(copy, [key, this.copy(item.value, at)])
    }
    return copy
  }

  #array(value: ReadonlyArray<unknown>, place: Place | undefined): Fresh {
    // "length" is the one key beside the indices; a hole makes them fewer, a named member more.
    if (Reflect.ownKeys(value).length !== value.length + 1)
      return this.#refuse(place, { expected: "an array without holes or named members", received: "one with them" })
    const copy: Array<Fresh> = []
    for (let index = 0; index < value.length; index++) {
      if (this.#isFull(place)) break
      const at = placeIn(place, index)
      const item = this.#member(Object.getOwnPropertyDescriptor(value, index), at)
      if (item !== undefined) copy.push(this.copy(item.value, at))
    }
    return copy
  }

  #member(descriptor: PropertyDescriptor | undefined, place: Place): { readonly value: unknown } | undefined {
    this.values++
    if (descriptor !== undefined && "value" in descriptor) {
      if (descriptor.enumerable === true) return { value: descriptor.value }
      if (this.#hidden === "refuse") this.#refuse(place, { expected: "an enumerable member", received: "a hidden one" })
    } else this.#refuse(place, { expected: "a value", received: descriptor === undefined ? "a hole" : "a getter" })
    return undefined
  }

  #notJson(value: unknown, place: Place | undefined): Fresh {
    const fix = value === undefined ? { fix: "omit the key" } : {}
    return this.#refuse(place, { expected: "a JSON value", received: kindOf(value), ...fix })
  }

  #isFull(place: Place | undefined): boolean {
    if (this.issues.length >= 8) return true
    if (this.values < this.#maxValues) return false
    this.#refuse(place, { expected: `at most ${this.#maxValues} values`, received: "more" })
    return true
  }

  #refuse(place: Place | undefined, problem: Omit<ArgumentIssue, "pointer">): Fresh {
    if (this.issues.length < 8) this.issues.push({ pointer: pointerOf(place), ...problem })
    return null
  }
}

/** Plain objects and arrays, of any realm: the root of a prototype chain is recognised by what it owns. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(value))
    return prototype === Array.prototype || (!types.isProxy(prototype) && Array.isArray(prototype))
  if (prototype === null || prototype === Object.prototype) return !types.isModuleNamespaceObject(value)
  if (typeof prototype !== "object" || types.isProxy(prototype)) return false
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf")
}

/** What a value that is no JSON is, found without running any of its code. */
const kindOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : `a ${typeof value}`
  if (types.isProxy(value)) return "a proxy"
  if (types.isDate(value)) return "a Date"
  if (types.isMap(value)) return "a Map"
  if (types.isSet(value)) return "a Set"
  if (types.isPromise(value)) return "a Promise"
  if (types.isRegExp(value)) return "a RegExp"
  if (types.isArrayBufferView(value) || types.isAnyArrayBuffer(value)) return "binary data"
  if (types.isBoxedPrimitive(value)) return "a boxed primitive"
  return "an instance of a class"
}
