import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it, vi } from "vitest"
import { runOnce } from "./engine.js"
import { makeWorld } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

// The whole way: engine, executor, box and a tool of the box.
it("[R12] a command whose hand is killed is Indeterminate, told to the model, and the run goes on in a new hand", async () => {
  const world = await makeWorld()
  try {
    const running = runOnce(world, [
      { toolId: "bash", args: { command: "echo gone > trace; sleep 60" } },
      { toolId: "read", args: { file_path: "trace" } },
      { toolId: "edit", args: { file_path: "trace", old_string: "gone", new_string: "back" } },
      { toolId: "read", args: { file_path: "trace" } }
    ])
    const trace = path.join(world.workspace, "trace")
    while (!fs.existsSync(trace) || fs.statSync(trace).size === 0) await new Promise(setImmediate)
    for (const pid of world.pids()) process.kill(pid, "SIGKILL")
    const { results, end } = await running
    expect(results[0]).toContain("Its outcome is unknown")
    expect(results.slice(1).map((text) => text.split("\n")[0])).toEqual([
      "1\tgone",
      "edited trace: 1 replacement",
      "1\tback"
    ])
    expect(end).toBe("NaturalEnd")
  } finally {
    await world.close()
  }
})
