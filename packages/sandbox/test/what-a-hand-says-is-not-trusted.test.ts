import * as fs from "node:fs"
import * as path from "node:path"
import fc from "fast-check"
import { expect, it, vi } from "vitest"
import { encodeData, encodeFrame, FrameReader } from "../src/internal/frames.js"
import { seccompFilter } from "../src/internal/seccompFilter.js"
import { boxed } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

const forged = (...frames: ReadonlyArray<Buffer>): string => Buffer.concat(frames).toString("base64")

it.each([
  ["a frame that is too long", Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ["no JSON", Buffer.from([0, 0, 0, 1, 0x7b])],
  ["no message", encodeFrame([1])],
  ["an unknown message for an open call", encodeFrame({ type: "approve", id: 1 })],
  ["a stream where no host is listed", encodeFrame({ type: "tunnel", id: 1, act: "open" })],
  ["bytes of a stream where no host is listed", encodeData(1, Buffer.alloc(1))]
])("[E4] %s ends the hand, its calls are lost, and the next one works", async (_, frame) => {
  const { text } = await boxed()
  expect(await text("forge", forged(frame))).toMatch(
    /^Execution: the sandbox was lost while forge ran: it broke the protocol/
  )
  expect(await text("echo", "again")).toBe("again")
})

it.each([
  ["opened twice", [1, 1].map((id) => encodeFrame({ type: "tunnel", id, act: "open" }))],
  ["without a number", [encodeFrame({ type: "tunnel", act: "open" })]],
  ["that say nothing known", [encodeFrame({ type: "tunnel", id: 1, act: "sing" })]],
  [
    "beyond their number",
    Array.from({ length: 200 }, (_, id) => encodeFrame({ type: "tunnel", id: id + 1, act: "open" }))
  ]
])("[E4] streams %s end the hand", async (_, frames) => {
  const { text } = await boxed({ network: { hosts: ["example.org"] } })
  expect(await text("forge", forged(...frames))).toMatch(/^Execution: .* it broke the protocol/)
  expect(await text("echo", "again")).toBe("again")
})

it("answers to calls that are not open are nobody's", async () => {
  const { text } = await boxed()
  const stray = [7, -1, "1", { a: 1 }].map((id) => encodeFrame({ type: "result", id, output: { content: [] } }))
  expect(await text("forge", forged(...stray))).toBe("own")
})

it("a forged answer is read like a stranger's: another call id and undeclared members change nothing", async () => {
  const { call } = await boxed()
  const output = {
    callId: "other",
    content: [{ type: "text", text: "forged" }],
    isError: false,
    state: [],
    __proto__: { x: 1 }
  }
  expect(await call("forge", forged(encodeFrame({ type: "result", id: 1, output })))).toEqual({
    callId: "c1",
    content: [{ type: "text", text: "forged" }],
    isError: false,
    state: []
  })
})

it("the box shows what it was given and nothing else", async () => {
  const { text, workspace } = await boxed({ environment: { GIVEN: "yes" }, options: { depth: 2 } })
  const place = JSON.parse(await text("place")) as Readonly<Record<string, unknown>>
  expect(place).toMatchObject({ workspace, contained: true, options: { depth: 2 }, cwd: workspace, pid: 2 })
  expect(Object.keys(place["env"] as object).sort()).toEqual(["GIVEN", "HOME", "LANG", "PATH", "PWD", "TERM", "TMPDIR"])
})

it("folders that are given read-only can be read and not written", async () => {
  const { scratch } = await import("./world.js")
  const shown = scratch()
  fs.writeFileSync(path.join(shown, "a"), "a")
  const { text } = await boxed({ readOnly: [shown] })
  expect(await text("write", path.join(shown, "b"))).toContain("EROFS")
  expect(await text("write", "/tmp/b")).toBe("written")
  expect(fs.readdirSync(shown)).toEqual(["a"])
})

it("with the full network a tool reaches a listener, and without it does not", async () => {
  const net = await import("node:net")
  const server = net.createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const port = String((server.address() as { readonly port: number }).port)
  const closed = await boxed()
  expect(await closed.text("connect", port)).toContain("ECONNREFUSED")
  const open = await boxed({ network: "full" })
  expect(await open.text("connect", port)).toBe("connected")
  server.close()
})

it("frames come out whole and in order however their bytes arrive", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.jsonValue(), fc.uint8Array({ maxLength: 20 })), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 })),
      (messages, cuts) => {
        const frames = messages.map((one) => (one instanceof Uint8Array ? encodeData(7, one) : encodeFrame(one)))
        const bytes = Buffer.concat(frames)
        const seen: Array<unknown> = []
        const reader = new FrameReader({
          message: (message) => seen.push(message),
          data: (channel, part) => seen.push({ channel, part: [...part] })
        })
        let at = 0
        for (const cut of [...cuts, bytes.length]) {
          reader.push(bytes.subarray(at, at + cut))
          at += cut
        }
        expect(seen).toEqual(
          messages.map((one): unknown =>
            one instanceof Uint8Array ? { channel: 7, part: [...one] } : JSON.parse(JSON.stringify(one))
          )
        )
      }
    )
  )
})

it.each(["x64", "arm64"])(
  "the filter of system calls for %s jumps only forward, inside itself, and always ends",
  (machine) => {
    const filter = seccompFilter(machine, { unixSockets: false }) ?? Buffer.alloc(0)
    const steps = filter.length / 8
    expect([filter.length % 8, steps > 50, steps < 256]).toEqual([0, true, true])
    for (let step = 0; step < steps; step++) {
      const jump = Math.max(filter.readUInt8(step * 8 + 2), filter.readUInt8(step * 8 + 3))
      expect(step + jump + 1).toBeLessThanOrEqual(steps - (filter.readUInt16LE(step * 8) === 0x06 ? 0 : 1))
    }
    expect(filter.readUInt16LE((steps - 1) * 8)).toBe(0x06)
    expect(seccompFilter("mips", { unixSockets: false })).toBe(undefined)
  }
)
