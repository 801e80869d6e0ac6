import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it, vi } from "vitest"
import { boxed, scratch, startParent, until } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

const gone = (pid: number | undefined): boolean => {
  try {
    process.kill(pid ?? 0, 0)
    return false
  } catch {
    return true
  }
}

it("the files of a program that was killed are removed by the next one, and those of a living one are kept", async () => {
  const folder = scratch()
  const [killed, living] = [await startParent({ TMPDIR: folder }), await startParent({ TMPDIR: folder })]
  killed.kill("SIGKILL")
  await until(() => gone(killed.pid))
  const [, space = ""] = /-\d+-\d+-(\d+)-/.exec(fs.readdirSync(folder)[0] ?? "") ?? []
  const kept = path.join(scratch(), "kept")
  fs.writeFileSync(kept, "kept")
  // Named like one of a process that is gone: a link, a file, and a folder from another space of process ids.
  const strange = [
    `toolwright-box-999999999-1-${space}-link`,
    `toolwright-box-999999999-1-${space}-file`,
    "toolwright-box-999999999-1-1-other"
  ]
  fs.symlinkSync(path.dirname(kept), path.join(folder, strange[0] ?? ""))
  fs.writeFileSync(path.join(folder, strange[1] ?? ""), "x")
  fs.mkdirSync(path.join(folder, strange[2] ?? ""))
  vi.stubEnv("TMPDIR", folder)
  const { text } = await boxed()
  vi.unstubAllEnvs()
  const names = fs.readdirSync(folder).filter((name) => name.startsWith("toolwright-box-"))
  const owners = names.map((name) => name.split("-")[2] ?? "").sort()
  expect(owners).toEqual([...[living.pid, process.pid].map(String), ...strange.map(() => "999999999")].sort())
  expect(fs.readFileSync(kept, "utf8")).toBe("kept")
  expect(await text("echo", "works")).toBe("works")
})
