import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import { hold } from "../src/internal/heldDirectory.js"
import { walkPath } from "../src/internal/walkPath.js"
import { Workspace } from "../src/files.js"
import { content, folder, hands, put } from "./folder.js"

/** A workspace beside a secret, with every kind of link that could lead there. */
const world = () => {
  const base = folder({ "secret/key": "secret", "ws/in/a": "a" })
  const root = path.join(base, "ws")
  put(root, "up", { link: ".." })
  put(root, "abs", { link: path.join(base, "secret") })
  put(root, "file", { link: "../secret/key" })
  put(root, "hop", { link: "in/hop" })
  put(root, "in/hop", { link: "../../secret" })
  put(root, "loop", { link: "loop" })
  put(root, "dangling", { link: "../secret/new" })
  put(root, "fine", { link: "in/a" })
  put(root, "own", { link: path.join(root, "in") })
  return { base, root, ...hands(root) }
}

const outside = [
  "../secret/key",
  "in/../../secret/key",
  "up/secret/key",
  "abs/key",
  "file",
  "hop/key",
  "own/../../secret/key",
  "dangling",
  "/etc/passwd",
  "/proc/self/environ",
  "/dev/zero",
  "fine/../../../secret/key",
  "abs/../abs/key"
]

describe.each(outside)("%s", (file_path) => {
  it.each([
    ["read", { file_path }],
    ["write", { file_path, content: "x", overwrite: true }],
    ["edit", { file_path, old_string: "secret", new_string: "x" }],
    ["move", { source: "in/a", destination: `${file_path}/x`, overwrite: true }],
    ["move", { source: `${file_path}/x`, destination: "stolen" }],
    ["list", { path: `${file_path}/..` }],
    ["glob", { pattern: "*", path: `${file_path}/..` }],
    ["grep", { pattern: "secret", path: file_path }]
  ])("is refused by %s and nothing outside is read or changed", async (id, args) => {
    const { base, text } = world()
    const said = await text(id, args)
    expect(said).toMatch(/^refused: /)
    expect(said).not.toContain("secret\n")
    expect(content(base, "secret/key")).toBe("secret")
    expect(fs.readdirSync(path.join(base, "secret"))).toEqual(["key"])
  })
})

it("a link that stays inside is followed, also an absolute one", async () => {
  const { text } = world()
  expect(await text("read", { file_path: "fine" })).toBe("1\ta")
  expect(await text("read", { file_path: "own/a" })).toBe("1\ta")
  expect(await text("read", { file_path: "own/../in/./a" })).toBe("1\ta")
})

it("links that lead in a circle are refused", async () => {
  expect(await world().text("read", { file_path: "loop" })).toContain("a path whose links come to an end")
})

// C079
it("a workspace that is itself reached through a link is one workspace under both names", async () => {
  const base = folder({ "real/a": "a" })
  put(base, "linked", { link: "real" })
  const { text } = hands(path.join(base, "linked"))
  expect(await text("read", { file_path: path.join(base, "linked/a") })).toBe("1\ta")
  expect(await text("read", { file_path: path.join(base, "real/a") })).toBe("1\ta")
  expect(await text("read", { file_path: `${base}/linked/../real/a` })).toContain("inside the workspace")
})

it("writing through a link changes the file that it leads to, and the link stays", async () => {
  const { root, text } = world()
  await text("write", { file_path: "fine", content: "b", overwrite: true })
  expect(fs.readlinkSync(path.join(root, "fine"))).toBe("in/a")
  expect(content(root, "in/a")).toBe("b")
})

it("moving and deleting act on a link, never on what it leads to", async () => {
  const { base, root, text } = world()
  expect(await text("delete", { path: "abs", recursive: true })).toBe("deleted abs")
  expect(await text("move", { source: "file", destination: "renamed" })).toBe("moved file to renamed")
  expect(fs.readlinkSync(path.join(root, "renamed"))).toBe("../secret/key")
  expect(content(base, "secret/key")).toBe("secret")
})

it("deleting a folder removes links in it and leaves what they lead to", async () => {
  const { base, root, text } = world()
  expect(await text("delete", { path: "in", recursive: true })).toBe("deleted in (3 entries)")
  expect(fs.existsSync(path.join(root, "in"))).toBe(false)
  expect(content(base, "secret/key")).toBe("secret")
})

it("searching does not follow links out, with either engine", async () => {
  const { text } = world()
  expect(await text("grep", { pattern: "secret" })).toBe("no match")
  expect(await text("glob", { pattern: "**/key" })).toBe("no file matches")
})

it("a file with a second hard link is replaced, so the other name keeps its content", async () => {
  const { base, root, text } = world()
  fs.linkSync(path.join(base, "secret/key"), path.join(root, "hard"))
  await text("edit", { file_path: "hard", old_string: "secret", new_string: "changed" })
  expect(content(root, "hard")).toBe("changed")
  expect(content(base, "secret/key")).toBe("secret")
})

it("a folder that is swapped for a link after it was found is still the folder that was found", () => {
  const { base, root } = world()
  const found = walkPath(Workspace.open(root).place, "in/a")
  if (!found.ok) throw new Error(found.problem)
  fs.renameSync(path.join(root, "in"), path.join(root, "moved"))
  put(root, "in", { link: path.join(base, "secret") })
  put(base, "secret/a", "stolen")
  expect(fs.readFileSync(found.parent.at("a"), "utf8")).toBe("a")
  found.close()
})

it("without descriptors of folders, a swap is noticed and refused", () => {
  const { base, root } = world()
  const held = hold(root, "portable")
  fs.renameSync(path.join(root, "in"), path.join(root, "moved"))
  put(root, "in", { link: path.join(base, "secret") })
  expect(() => hold(path.join(root, "in"), "portable")).toThrow("was replaced while it was in use")
  expect(held.at("a")).toBe(path.join(root, "a"))
})

// A swap in the other direction, at full speed, while the tool works: either the own file is read or the call is refused.
it("swapping a folder and a link while files are read never gives the outside file", async () => {
  const { base, root, text } = world()
  put(base, "secret/a", "stolen")
  put(root, "evil", { link: path.join(base, "secret") })
  const { Worker } = await import("node:worker_threads")
  const code = `
    const fs = require("node:fs"), { workerData: root } = require("node:worker_threads")
    for (;;) try {
      fs.renameSync(root + "/in", root + "/x"); fs.renameSync(root + "/evil", root + "/in")
      fs.renameSync(root + "/in", root + "/evil"); fs.renameSync(root + "/x", root + "/in")
    } catch {}`
  const worker = new Worker(code, { eval: true, workerData: root })
  const seen = new Set<string>()
  for (let round = 0; round < 400; round++) seen.add((await text("read", { file_path: "in/a" })).slice(0, 10))
  for (let round = 0; round < 40; round++) await text("write", { file_path: "in/w", content: "w", overwrite: true })
  await worker.terminate()
  expect([...seen].filter((one) => one.includes("stolen"))).toEqual([])
  expect(seen.has("1\ta")).toBe(true)
  expect(fs.readdirSync(path.join(base, "secret")).sort()).toEqual(["a", "key"])
})
