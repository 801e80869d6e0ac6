import * as fs from "node:fs"
import * as path from "node:path"
import { build } from "rolldown"
import { expect, it, vi } from "vitest"
import { loadScript } from "../src/internal/scriptModule.js"
import { boxed, scratch } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

it("code that was kept is used for the same text, and only for that", () => {
  const folder = scratch()
  const [file, kept] = [path.join(folder, "module.cjs"), path.join(folder, "code")]
  fs.writeFileSync(file, "exports.default = () => 'first'")
  fs.writeFileSync(kept, "")
  const answer = (): unknown => (loadScript(file, kept).exports as { default: () => string }).default()
  expect(answer()).toBe("first")
  fs.writeFileSync(kept, Buffer.from(loadScript(file, undefined).code(), "base64"))
  expect(answer()).toBe("first")
  // Of the same length, which is all that the machine itself would compare.
  fs.writeFileSync(file, "exports.default = () => 'other'")
  expect(answer()).toBe("other")
  fs.truncateSync(kept, 40)
  expect(answer()).toBe("other")
})

it("a registry that is a script gives its tools, in the first hand and in those that start from its code", async () => {
  const registry = path.join(scratch(), "registry.cjs")
  await build({
    input: path.join(import.meta.dirname, "registry.ts"),
    platform: "node",
    output: { file: registry, format: "cjs", exports: "named" },
    logLevel: "silent"
  })
  const { text } = await boxed({ registry })
  expect(await text("echo", "one")).toBe("one")
  expect(await text("echo", "two", { threadId: "t2" })).toBe("two")
  const [own, next] = await Promise.all([text("kept"), text("kept", undefined, { threadId: "t2" })])
  expect([own === "0", Number(next) > 32]).toEqual([true, true])
  expect(await text("write", "/etc/toolwright-code")).toContain("EROFS")
})
