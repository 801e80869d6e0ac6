#!/usr/bin/env node
/** Entry of `npx @toolwright/permissions`: `check policy.json`, `explain policy.json calls.json`. */
import { readFileSync } from "node:fs"
import { run } from "./internal/commandLine.js"

process.exitCode = run(process.argv.slice(2), {
  read: (path) => readFileSync(path === "-" ? 0 : path, "utf8"),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  color: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
  directory: process.cwd()
})
