/**
 * Carries a normalisation plan out on one value, in place.
 *
 * Guarantees: filled values are frozen and shared, never changed again; a union is left alone unless exactly one branch
 * of it is meant. What one union fills may decide another one, so they are asked until all is still.
 * Does not read schemas: `normalizeArgs` plans.
 */
import type { Json } from "../Json.js"
import { type Place, placeIn, pointerOf } from "./jsonPointer.js"
import { setMember } from "./plainJson.js"
import { looseScalar } from "./scalarIssues.js"
import type { Fresh, FreshObject } from "./strictJson.js"

/** A string that became what it spells. */
export interface ArgumentNote {
  /** JSON Pointer into the arguments. */
  readonly pointer: string
  readonly from: string
  readonly to: number | boolean
}

/** Where a walk that takes notes stands. */
export interface Trail {
  readonly place: Place | undefined
  readonly notes: Array<ArgumentNote>
}

/** Changes a value in place; true when it changed something. */
export type Normalize = (value: Fresh, trail?: Trail) => boolean

/** What to do with one member or item: spell out a string, then go into it. */
export interface Slot {
  readonly loose: ReadonlyArray<string> | undefined
  readonly inside: Normalize | undefined
}

export interface Field extends Slot {
  readonly key: string
  /** Whether every object has a member of that name by inheritance. */
  readonly inherited: boolean
  readonly dropNull: boolean
  readonly fill: (() => Json) | undefined
}

/** Members that no schema names: by pattern, or all the rest. */
export interface Others extends Slot {
  readonly applies: (key: string) => boolean
}

export interface Branch {
  readonly types: ReadonlySet<string>
  readonly constants: ReadonlyArray<readonly [string, Json]>
  readonly inside: Normalize | undefined
}

export interface Plan {
  readonly fields: ReadonlyArray<Field>
  readonly others: ReadonlyArray<Others>
  readonly prefix: ReadonlyArray<Slot>
  readonly rest: Slot | undefined
  readonly unions: ReadonlyArray<ReadonlyArray<Branch>>
}

export const hasWork = (slot: Slot): boolean => slot.loose !== undefined || slot.inside !== undefined

export const isEmpty = ({ fields, others, prefix, rest, unions }: Plan): boolean =>
  fields.length + others.length + prefix.length + unions.length === 0 && rest === undefined

interface Work {
  readonly value: Fresh
  readonly trail: Trail | undefined
}

export const applyPlan = (plan: Plan, { value, trail }: Work): boolean => {
  if (typeof value !== "object" || value === null) return false
  let changed = Array.isArray(value) ? applyItems(plan, { value, trail }) : applyMembers(plan, { value, trail })
  if (plan.unions.length === 0) return changed
  // What one union fills may decide another one, so they are asked until all is still. Each round adds or drops a
  // member, so eight rounds are more than any sensible schema needs.
  for (let round = 0; round < 8; round++) {
    let again = false
    for (const branches of plan.unions) again = branchFor(branches, value)?.inside?.(value, trail) === true || again
    if (!again) break
    changed = true
    if (!Array.isArray(value)) applyMembers(plan, { value, trail })
  }
  return changed
}

const applyMembers = (plan: Plan, work: Work & { readonly value: FreshObject }): boolean => {
  const changed = applyFields(plan.fields, work)
  return plan.others.length === 0 ? changed : applyOthers(plan, work) || changed
}

const applyFields = (
  fields: ReadonlyArray<Field>,
  { value, trail }: Work & { readonly value: FreshObject }
): boolean => {
  let changed = false
  for (const field of fields) {
    const { key } = field
    let item = field.inherited && !Object.hasOwn(value, key) ? undefined : value[key]
    if (item === null && field.dropNull) {
      delete value[key]
      item = undefined
      changed = true
    }
    if (item !== undefined) changed = applySlot(field, { value, key, trail }) || changed
    else if (field.fill !== undefined) {
      // Frozen already, and nothing that is filled is changed again.
      setMember<Json>(value, [key, field.fill()])
      changed = true
    }
  }
  return changed
}

const applyOthers = ({ others }: Plan, { value, trail }: Work & { readonly value: FreshObject }): boolean => {
  let changed = false
  for (const key of Object.keys(value))
    for (const other of others) if (other.applies(key)) changed = applySlot(other, { value, key, trail }) || changed
  return changed
}

const applyItems = ({ prefix, rest }: Plan, { value, trail }: Work & { readonly value: Array<Fresh> }): boolean => {
  let changed = false
  for (let index = 0; index < value.length; index++) {
    const slot = prefix[index] ?? rest
    if (slot !== undefined) changed = applySlot(slot, { value, key: index, trail }) || changed
  }
  return changed
}

type Holder =
  | { readonly value: FreshObject; readonly key: string; readonly trail: Trail | undefined }
  | { readonly value: Array<Fresh>; readonly key: number; readonly trail: Trail | undefined }

const applySlot = (slot: Slot, holder: Holder): boolean => {
  const item = Array.isArray(holder.value) ? holder.value[Number(holder.key)] : holder.value[holder.key]
  if (item === undefined) return false
  const trail =
    holder.trail === undefined ? undefined : { ...holder.trail, place: placeIn(holder.trail.place, holder.key) }
  if (typeof item !== "string" || slot.loose === undefined) return slot.inside?.(item, trail) ?? false
  const spelled = looseScalar(item, slot.loose)
  if (spelled === undefined) return false
  if (Array.isArray(holder.value)) holder.value[Number(holder.key)] = spelled
  else setMember<Fresh>(holder.value, [String(holder.key), spelled])
  trail?.notes.push({ pointer: pointerOf(trail.place), from: item, to: spelled })
  return true
}

/** The branch that a value was meant for: of the right type, with all its required constants. Two of them are none. */
const branchFor = (branches: ReadonlyArray<Branch>, value: FreshObject | Array<Fresh>): Branch | undefined => {
  const type = Array.isArray(value) ? "array" : "object"
  let plain: Branch | undefined
  let told: Branch | undefined
  let plainOnes = 0
  let toldOnes = 0
  for (const branch of branches) {
    if (!branch.types.has(type)) continue
    if (Array.isArray(value) || branch.constants.length === 0) {
      plain = branch
      plainOnes++
    } else if (branch.constants.every(([key, constant]) => Object.hasOwn(value, key) && value[key] === constant)) {
      told = branch
      toldOnes++
    }
  }
  if (toldOnes > 0) return toldOnes === 1 ? told : undefined
  return plainOnes === 1 ? plain : undefined
}
