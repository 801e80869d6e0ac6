// Bootstrap for a machine that has only node and npm:  node scripts/task.mjs [--quiet] [turbo run arguments...]
// 1. installs from the lock file with the pinned pnpm   2. hands over to turbo
// The install is quiet, and with --quiet so is turbo: their output is shown only when they fail. stdin is never read.
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { env, pnpm, shell } from "./lib/pnpm.mjs"

const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.version}.`)
  process.exit(1)
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const [command, ...prefix] = pnpm()

const run = (args, quiet) =>
  new Promise((resolve) => {
    const stdio = quiet ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"]
    const child = spawn(command, [...prefix, ...args], { cwd: root, env, shell, stdio })
    const kept = []
    child.stdout?.on("data", (chunk) => kept.push(chunk))
    child.stderr?.on("data", (chunk) => kept.push(chunk))
    const forward = (signal) => child.kill(signal)
    process.on("SIGINT", forward).on("SIGTERM", forward)
    child.on("error", (error) => {
      console.error(`${command} could not be started: ${error.message}`)
      resolve(127)
    })
    child.on("close", (code, signal) => {
      process.off("SIGINT", forward).off("SIGTERM", forward)
      const status = code ?? (signal === "SIGINT" ? 130 : 143)
      if (status !== 0) process.stderr.write(Buffer.concat(kept))
      resolve(status)
    })
  })

const args = process.argv.slice(2)
const quiet = args[0] === "--quiet"
if (quiet) args.shift()
const patience = setTimeout(
  () => console.error("Installing and building; the first time takes a minute or two ..."),
  3000
)
// With a filter only what that workspace needs is installed: a first `npm start` compiles no optional native package.
const filter = args.find((arg) => arg.startsWith("--filter="))?.slice("--filter=".length)
const part = filter === undefined ? [] : ["--filter", `${filter}...`, "--filter", "toolwright"]
let status = await run(["install", "--frozen-lockfile", "--reporter=append-only", ...part], true)
if (!quiet) clearTimeout(patience)
if (status === 0 && args.length > 0) status = await run(["exec", "turbo", "run", ...args], quiet)
clearTimeout(patience)
process.exitCode = status
