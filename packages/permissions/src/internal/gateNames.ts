/**
 * The options that a gate from three lists has, and no others.
 *
 * Guarantees: each unknown one is told, with the one that was probably meant; a list that is ignored denies nothing.
 * Does not read what the lists say.
 */
import { ToolArgs } from "@toolwright/runtime-contract"
import type { GateLists } from "../PermissionGate.js"
import { PolicyError } from "../PolicyError.js"

const names: Readonly<Record<keyof GateLists, true>> = {
  allow: true,
  ask: true,
  deny: true,
  default: true,
  id: true,
  directory: true,
  workspace: true,
  files: true,
  shell: true
}

/** Throws `PolicyError`: `dney` must not pass. */
export const checkNames = (lists: object): void => {
  const known = Object.keys(names)
  const unknown = Object.keys(lists).filter((name) => !Object.hasOwn(names, name))
  if (unknown.length === 0) return
  throw new PolicyError(
    unknown.map((name) => ({
      pointer: `/${name}`,
      expected: ToolArgs.nearestName(name, known) ?? `one of ${known.join(", ")}`,
      received: "an unknown option"
    }))
  )
}
