/** A real Bash in a scratch directory, where `forbid` and `git` write down that they ran. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

export interface Scratch {
  /** Names of the stubs that ran, in order. */
  readonly ran: (line: string) => ReadonlyArray<string>
  readonly remove: () => void
}

/** `tools`: directories of the programs that a line may use beside the stubs. */
export const makeScratch = (tools: ReadonlyArray<string>, stubs: ReadonlyArray<string>): Scratch => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "authority-bash-"))
  const bin = path.join(root, "bin")
  const log = path.join(root, "log")
  fs.mkdirSync(bin)
  for (const name of stubs)
    fs.writeFileSync(path.join(bin, name), `#!/bin/sh\necho ${name} >> "${log}"\n`, { mode: 0o755 })
  return {
    ran: (line) => {
      fs.writeFileSync(log, "")
      // Non-interactive, without start-up files; the input is empty and time is short. A line may define a function that
      // calls itself through a pipe: nesting is bounded, and at the end of its time the whole process group dies.
      spawnSync("timeout", ["--signal=KILL", "4", "bash", "--noprofile", "--norc", "-c", `${line}\nwait`], {
        cwd: root,
        env: { PATH: [bin, ...tools].join(":"), LOG: log, HOME: root, LC_ALL: "C.UTF-8", FUNCNEST: "8" },
        input: "",
        timeout: 5_000,
        killSignal: "SIGKILL"
      })
      return fs
        .readFileSync(log, "utf8")
        .split("\n")
        .filter((name) => name !== "")
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true })
  }
}
