// A program that holds a sandbox with a process in it, to be killed.
import { Sandbox } from "../src/index.js"

const [, , workspace = "", registry = "", entry = "", marker = ""] = process.argv
const tool = { id: "x" }
const sandbox = await Sandbox.make({ workspace, tools: [], registry, entry, environment: { MARK: marker, ...tool } })
setInterval(() => sandbox.hands, 1_000)
process.stdout.write("ready")
