/**
 * Runs `Sandbox` tools in a hand without a box, with all rights of this process. Named for what it is.
 *
 * Guarantees: says so at each start; a hand, its cancelling and its loss work as in the sandbox.
 * Does not contain anything: a command can read, write and reach whatever this process can, and a process that wants to
 * outlive its call does.
 */
import { spawn } from "node:child_process"
import * as path from "node:path"
import { HandExecutor } from "./internal/handExecutor.js"
import { HandProcess } from "./internal/handProcess.js"
import {
  defaultLimits,
  environmentOf,
  fileOf,
  type HandOptions,
  type Sandbox,
  sandboxOf,
  workspaceOf
} from "./Sandbox.js"
import { SandboxError } from "./SandboxError.js"

export interface UnsafeLocalOptions extends HandOptions {
  /** Hears the warning, once per hand that is started. Default: standard error. */
  readonly warn?: (text: string) => void
}

const warning =
  "UNSAFE: tools run on this machine without a sandbox, with all rights of this process (toolwright unsafeLocal)"

/** Starts the first hand and compares its tools. Rejects with `SandboxError`. */
export const unsafeLocal = async (options: UnsafeLocalOptions): Promise<Sandbox> => {
  const { real, aliases } = workspaceOf(options.workspace)
  const registry = fileOf(options.registry, "registry")
  const entry = fileOf(options.entry ?? new URL("./hand.cjs", import.meta.url), "entry")
  const limits = { ...defaultLimits, ...options.limits }
  const environment = {
    ...environmentOf(options),
    PATH: process.env["PATH"] ?? `${path.dirname(process.execPath)}:/usr/bin:/bin`
  }
  const warn = options.warn ?? ((text: string): void => void process.stderr.write(`${text}\n`))
  const start = (): HandProcess => {
    warn(warning)
    const child = spawn(process.execPath, [`--max-old-space-size=${limits.heap}`, entry], {
      env: environment,
      cwd: real,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"]
    })
    const place = { workspace: real, aliases, contained: false, environment, options: options.options ?? null }
    return new HandProcess({
      child,
      init: { type: "init", registry, place, callLimit: limits.call, wantsCode: false },
      startLimit: limits.start
    })
  }
  const executor = new HandExecutor({ tools: options.tools, ...limits, start })
  try {
    await executor.warmUp()
  } catch (cause) {
    await executor.close()
    throw new SandboxError("BadRegistry", {
      message: cause instanceof Error ? cause.message : "the hand could not start",
      cause
    })
  }
  return sandboxOf(executor, { warnings: [warning], closed: () => {} })
}
