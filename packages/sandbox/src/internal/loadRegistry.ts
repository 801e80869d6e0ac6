/**
 * Loads the tools of a hand from a module.
 *
 * Guarantees: what the module gives is checked, and an id that is there twice fails the start.
 */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import type { RawTool } from "@toolwright/runtime-contract"
import type { Init, InstalledTool } from "./messages.js"
import { loadScript } from "./scriptModule.js"
import { toolDigest } from "./toolDigest.js"

export interface LoadedRegistry {
  readonly tools: ReadonlyMap<string, RawTool.RawTool>
  readonly installed: ReadonlyArray<InstalledTool>
  /** Where it was asked for and there is some. */
  readonly code: string | undefined
  /** Runs an `Effect` with the copy of the library that made it. */
  readonly runEffect: (
    effect: unknown,
    options: { readonly signal: AbortSignal; readonly operation: unknown }
  ) => Promise<unknown>
}

export const loadRegistry = async (init: Init): Promise<LoadedRegistry> => {
  const { registry, place } = init
  const { given, code } = await read(init)
  const made: unknown = await (typeof given === "function" ? (given as (given: unknown) => unknown)(place) : given)
  if (!Array.isArray(made) || !made.every(isRawTool))
    throw new TypeError(
      `${registry}: expected its default export to be a list of erased tools, or a function that gives one`
    )
  const tools = new Map(made.map((tool) => [tool.spec().id, tool]))
  if (tools.size !== made.length) throw new TypeError(`${registry}: two tools have the same id`)
  const installed = made.map((tool) => ({ id: tool.spec().id, digest: toolDigest(tool) }))
  return { tools, installed, code: code(), runEffect: effectRunner(registry) }
}

interface Read {
  /** The default export. */
  readonly given: unknown
  readonly code: () => string | undefined
}

/** Only scripts can be given code that was kept: what Node has for modules is not in every version. */
const read = async ({ registry, codeFile, wantsCode }: Init): Promise<Read> => {
  if (!registry.endsWith(".cjs")) {
    const loaded: unknown = await import(pathToFileURL(registry).href)
    return { given: isObject(loaded) ? loaded["default"] : undefined, code: () => undefined }
  }
  const { exports, code } = loadScript(registry, codeFile)
  return {
    given: isObject(exports) && "default" in exports ? exports["default"] : exports,
    code: () => (wantsCode ? code() : undefined)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isRawTool = (value: unknown): value is RawTool.RawTool =>
  isObject(value) && typeof value["spec"] === "function" && typeof value["invoke"] === "function"

const effectRunner = (registry: string): LoadedRegistry["runEffect"] => {
  const require = createRequire(registry)
  const load = async (name: string): Promise<Readonly<Record<string, unknown>>> => {
    const module: unknown = await import(pathToFileURL(require.resolve(name)).href)
    return isObject(module) ? module : {}
  }
  return async (effect, { signal }) => {
    const { runPromise } = await load("effect/Effect")
    if (typeof runPromise !== "function")
      throw new TypeError(`${registry}: its tools return an Effect, but effect cannot be loaded from there`)
    return (runPromise as (effect: unknown, options: unknown) => Promise<unknown>)(effect, { signal })
  }
}
