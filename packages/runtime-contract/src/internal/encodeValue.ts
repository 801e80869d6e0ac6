/**
 * Turns any JavaScript value into plain JSON, whatever it is and whatever it does.
 *
 * Guarantees: never throws; ends on cyclic, huge and hostile values; calls each `toJSON` and each getter at most once.
 * What JSON cannot hold is replaced by a note in brackets, and the result says that it was.
 * Does not know a schema and does not make text. The rule for each kind of value stands in `ToolRendering.ts`.
 */
/// <reference lib="es2024.string" />
import { types } from "node:util"
import type { Json } from "../Json.js"
import { setMember } from "./plainJson.js"

/** Objects and arrays inside one another, the outermost included. The same depth as arguments may have. */
const maxDepth = 64

/** Members and items of one output. Shared objects are written out each time, so a small graph can be an endless tree. */
const maxValues = 100_000

/** UTF-16 code units of all texts and keys of one structured output. */
const maxCharacters = 16_777_216

/** Hexadecimal digits of a bigint that is still written out: conversion to decimal is not linear. */
const maxBigintDigits = 10_000

export interface EncodedValue {
  readonly value: Json
  /** False when a note stands for something: the value has no full JSON form. */
  readonly faithful: boolean
}

/** The JSON form of a value; `null` for `undefined`. */
export const encodeValue = (value: unknown): EncodedValue => {
  const encoder = new Encoder()
  const encoded = encoder.encode(value) ?? null
  return { value: encoded, faithful: encoder.faithful }
}

class Encoder {
  faithful = true
  #values = 0
  #characters = 0
  /** The objects that the present one lies in. At most `maxDepth`, so that looking through them costs little. */
  readonly #open: Array<object> = []

  /** `undefined` only for `undefined`, which the caller drops or makes `null`. */
  encode(value: unknown): Json | undefined {
    switch (typeof value) {
      case "undefined":
        return undefined
      case "string":
        return this.#text(value)
      case "boolean":
        return value
      case "number":
        if (Number.isFinite(value)) return value === 0 ? 0 : value
        this.faithful = false
        return String(value)
      case "bigint":
        return this.#bigint(value)
      case "symbol":
        return this.#note(`symbol ${value.description ?? ""}`)
      case "function":
        return this.#note("function")
      case "object":
        return value === null ? null : this.#container(value)
    }
  }

  #container(value: object): Json | undefined {
    if (this.#open.includes(value)) return this.#note("cycle")
    if (this.#open.length >= maxDepth) return this.#note(`more than ${maxDepth} levels deep`)
    this.#open.push(value)
    try {
      return Array.isArray(value) ? this.#array(value) : this.#object(value)
    } catch (thrown) {
      return this.#note(`unserialisable: ${messageOf(thrown)}`)
    } finally {
      this.#open.pop()
    }
  }

  /** As in `JSON.stringify`, what `toJSON` gives is not asked for another `toJSON`. */
  #object(value: object): Json | undefined {
    if (ArrayBuffer.isView(value)) return this.#kind(value)
    const toJson: unknown = Reflect.get(value, "toJSON")
    // The commonest case; asking what else a value might be costs more than writing it out.
    if (typeof toJson !== "function") return isPlain(value) ? this.#record(value, toJson) : this.#kind(value, toJson)
    if (types.isDate(value) && Number.isNaN(Date.prototype.getTime.call(value))) return this.#note("invalid date")
    const given: unknown = Reflect.apply(toJson, value, [""])
    return typeof given === "object" && given !== null ? this.#kind(given) : this.encode(given)
  }

  /** `toJson` is what was read under that name, where it is no function. */
  #kind(value: object, toJson?: unknown): Json | undefined {
    if (types.isArrayBufferView(value) || types.isAnyArrayBuffer(value))
      return this.#note(`${classOf(value)} of ${value.byteLength} bytes`)
    if (Array.isArray(value)) return this.#array(value)
    if (types.isMap(value) || types.isSet(value)) return this.#array([...value])
    if (types.isBoxedPrimitive(value)) return this.encode(value.valueOf())
    if (types.isRegExp(value)) return this.#text(String(value))
    return this.#record(value, toJson)
  }

  #array(items: ReadonlyArray<unknown>): Json {
    const copy: Array<Json> = []
    for (let index = 0; index < items.length; index++) {
      if (this.#isFull()) {
        copy.push(this.#note(`${items.length - index} more items`))
        break
      }
      copy.push(this.#member(items, index) ?? null)
    }
    return copy
  }

  #record(value: object, toJson: unknown): Json {
    const copy: { [key: string]: Json } = {}
    const keys = Object.keys(value)
    if (!isPlain(value)) {
      if (types.isNativeError(value)) this.#error(value, copy)
      else if (keys.length === 0) return this.#note(classOf(value))
    }
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] ?? ""
      if (this.#isFull()) {
        setMember(copy, ["…", this.#note(`${keys.length - index} more members`)])
        break
      }
      // It has been read once already, to see whether it is a function.
      const member = key === "toJSON" ? this.encode(toJson) : this.#member(value, key)
      if (member === undefined) continue
      this.#characters += key.length
      if (key === "__proto__") setMember(copy, [key, member])
      else copy[key.toWellFormed()] = member
    }
    return copy
  }

  /** Name, message and cause are hidden members of an error; the stack tells of this machine and stays out. */
  #error(value: Error, copy: { [key: string]: Json }): void {
    for (const key of ["name", "message", "cause"]) {
      if (key === "cause" && !("cause" in value)) continue
      const member = Object.prototype.propertyIsEnumerable.call(value, key) ? undefined : this.#member(value, key)
      if (member !== undefined) copy[key] = member
    }
  }

  /** One bad member does not spoil its neighbours. */
  #member(owner: object, key: string | number): Json | undefined {
    this.#values++
    let value: unknown
    try {
      value = Reflect.get(owner, key)
    } catch (thrown) {
      return this.#note(`unserialisable: ${messageOf(thrown)}`)
    }
    return this.encode(value)
  }

  #text(value: string): string {
    this.#characters += value.length
    if (this.#characters > maxCharacters) return this.#note(`text of ${value.length} characters`)
    return value.toWellFormed()
  }

  #bigint(value: bigint): string {
    const digits = value.toString(16).length
    return digits > maxBigintDigits ? this.#note(`bigint of ${digits} hexadecimal digits`) : this.#text(String(value))
  }

  #isFull(): boolean {
    return this.#values >= maxValues || this.#characters > maxCharacters
  }

  #note(text: string): string {
    this.faithful = false
    return `[${text.slice(0, 200).trim().toWellFormed()}]`
  }
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  // The root of another realm's prototype chain.
  return (
    typeof prototype === "object" &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf")
  )
}

const classOf = (value: object): string => {
  const maker: unknown = Reflect.get(value, "constructor")
  return typeof maker === "function" && maker.name !== "" ? maker.name : "object"
}

/** Reading the message of what was thrown may throw again. */
const messageOf = (thrown: unknown): string => {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown)
  } catch {
    return "an unreadable error"
  }
}
