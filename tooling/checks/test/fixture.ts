/**
 * A throw-away tree and the checks run against it. Files are given by path; a tree is gone when its test ends. The checks
 * are the real ones of this repository, started as processes, so that exit status and words are what a person would get.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

export const repository = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..")

export type Files = Readonly<Record<string, string>>

export interface Outcome {
  readonly status: number | null
  readonly output: string
}

const tree = (files: Files): string => {
  const root = mkdtempSync(join(tmpdir(), "fixture-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const outcome = (child: ReturnType<typeof spawnSync>): Outcome => ({
  status: child.status,
  output: `${String(child.stdout)}${String(child.stderr)}`
})

/** Runs scripts/<script>.mjs on a tree. */
export const check = (script: string, files: Files, ...args: ReadonlyArray<string>): Outcome =>
  outcome(
    spawnSync(process.execPath, [join(repository, "scripts", `${script}.mjs`), "--root", tree(files), ...args], {
      encoding: "utf8"
    })
  )

/** Runs a program of the root's node_modules inside a tree. */
export const program = (name: string, files: Files, ...args: ReadonlyArray<string>): Outcome =>
  outcome(
    spawnSync(join(repository, "node_modules", ".bin", name), args, {
      cwd: tree(files),
      encoding: "utf8",
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" }
    })
  )

export const json = (value: unknown): string => JSON.stringify(value, null, 2)
