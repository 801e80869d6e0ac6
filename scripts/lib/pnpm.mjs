// The pnpm that package.json pins, as the start of a command line: the one on PATH if it is that version, else npx's.
// Has no dependencies: it runs before anything is installed.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** npx and pnpm are command files on Windows, which only a shell starts. */
export const shell = process.platform === "win32"

/** Nobody is asked, counted or told about newer versions while our commands run. */
export const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
  npm_config_update_notifier: "false"
}

export const pnpm = () => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const version = /^pnpm@([^+]+)/.exec(packageManager)?.[1]
  if (version === undefined) throw new Error('"packageManager" in package.json must pin pnpm, as in "pnpm@1.2.3"')
  const onPath = spawnSync("pnpm", ["--version"], { cwd: root, env, shell, encoding: "utf8" })
  return onPath.status === 0 && onPath.stdout.trim() === version ? ["pnpm"] : ["npx", "--yes", `pnpm@${version}`]
}
