import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { handTools } from "@toolwright/builtin-tools/hand-tools"
import { PermissionGate } from "@toolwright/permissions"
import { RawToolRegistry } from "@toolwright/runtime-contract"
import { expect, it } from "vitest"
import { call, inWorld, overBoth } from "./world.js"

const policy = {
  rules: [
    { pattern: "bash", behavior: "allow" },
    { pattern: 'read(path ~ "vault/keys/main")', behavior: "deny" }
  ]
} as const

overBoth("bash is judged where it stands", (open) => {
  it("[P5] [P3] a directory that an earlier step or an earlier call of the turn has left is where the next line is judged", async () => {
    const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "stands-")))
    fs.mkdirSync(path.join(folder, "vault", "keys"), { recursive: true })
    fs.writeFileSync(path.join(folder, "vault", "keys", "main"), "the secret")
    const tools = handTools({ workspace: folder })
    const bash = (command: string) => call("bash", { command })
    try {
      await inWorld(
        {
          open,
          gate: PermissionGate.fromPolicy(policy, { workspace: folder }),
          tools: () => tools,
          executors: { Sandbox: new RawToolRegistry(tools) },
          script: [
            { calls: [bash("cd vault && ls")] },
            { calls: [bash("cat keys/main")] },
            { calls: [bash("cd keys"), bash("cat main")] },
            "Done."
          ]
        },
        async ({ runtime, start }) => {
          const asked = await start()
          expect(asked.tickets.map(({ arguments: args }) => args)).toMatchObject([{ command: "cat keys/main" }])
          expect(JSON.stringify([...asked.messages])).toContain("keys")
          const again = await runtime.resume(asked.tickets[0]?.id ?? "", { _tag: "Deny" }, { approver: "bob" })
          expect(again.tickets.map(({ arguments: args }) => args)).toMatchObject([{ command: "cat main" }])
          const end = await runtime.resume(again.tickets[0]?.id ?? "", { _tag: "Deny" }, { approver: "bob" })
          expect(end.text).toBe("Done.")
          expect(JSON.stringify([...end.messages])).not.toContain("the secret")
        }
      )
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })
})
