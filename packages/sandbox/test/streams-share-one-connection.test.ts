import type { Duplex } from "node:stream"
import fc from "fast-check"
import { expect, it } from "vitest"
import type { TunnelMessage } from "../src/internal/messages.js"
import { Tunnels } from "../src/internal/tunnels.js"

const windowSize = 256 * 1024

/** Two ends, joined by a line on which everything takes a turn. */
const joined = (opened: (stream: Duplex) => void) => {
  let most = 0
  let underWay = 0
  const far: Tunnels = new Tunnels({
    send: (message) => setImmediate(() => near.take(message)),
    sendData: (id, bytes) => void setImmediate(() => near.takeData(id, Buffer.from(bytes))),
    opened
  })
  const near: Tunnels = new Tunnels({
    send: (message: TunnelMessage) => setImmediate(() => far.take(message)),
    sendData: (id, bytes) => {
      underWay += bytes.length
      most = Math.max(most, underWay)
      const copy = Buffer.from(bytes)
      setImmediate(() => {
        underWay -= copy.length
        far.takeData(id, copy)
      })
    }
  })
  return { near, most: () => most }
}

const read = async (stream: Duplex): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of stream) if (Buffer.isBuffer(part)) parts.push(part)
  return Buffer.concat(parts)
}

it("what goes in comes out, whole and in order, on as many streams as there are", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 4 }), { maxLength: 5 }),
      async (all) => {
        const { near, most } = joined((stream) => void stream.pipe(stream))
        const results = await Promise.all(
          all.map(async (sizes, at) => {
            const stream = near.open()
            if (stream === undefined) throw new Error("no stream")
            const parts = sizes.map((size, index) => Buffer.alloc(size, at * 16 + index + 1))
            for (const part of parts) stream.write(part)
            stream.end()
            return (await read(stream)).equals(Buffer.concat(parts))
          })
        )
        expect(results).toEqual(all.map(() => true))
        expect(most()).toBeLessThanOrEqual(windowSize * Math.max(1, all.length))
      }
    ),
    { numRuns: 20 }
  )
})

it("a reader that does not read holds one window, and gets the rest when it does", async () => {
  let other: Duplex | undefined
  const { near, most } = joined((stream) => (other = stream))
  const stream = near.open()
  stream?.end(Buffer.alloc(2_000_000, 1))
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect(most()).toBeLessThanOrEqual(windowSize)
  if (other === undefined) throw new Error("not opened")
  expect((await read(other)).length).toBe(2_000_000)
})

it("a stream that one side gives up ends on the other, and makes room", async () => {
  const { near } = joined((stream) => stream.destroy())
  const streams = Array.from({ length: 128 }, () => near.open())
  expect([streams.every((one) => one !== undefined), near.open()]).toEqual([true, undefined])
  await Promise.all(streams.map((one) => new Promise((resolve) => one?.once("close", resolve))))
  expect(near.open()).not.toBe(undefined)
})

it("sending beyond the window is an error, and not a way to fill the other side", () => {
  const far = new Tunnels({ send: () => {}, sendData: () => {}, opened: () => {} })
  far.take({ type: "tunnel", id: 1, act: "open" })
  const send = (): void => far.takeData(1, Buffer.alloc(60_000))
  // The first is handed to the reader at once, and its room is free again.
  const most = 5
  for (let count = 0; count < most; count++) send()
  expect(send).toThrow("more of a stream than its window")
})
