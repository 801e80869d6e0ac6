/**
 * The place inside the box where programs find a proxy: a port of its own loopback, whose connections go to the parent.
 *
 * Guarantees: passes bytes and nothing else; a connection that cannot be passed on is closed.
 * Does not judge: what may be reached is decided outside, where nothing in the box can change it.
 */
import * as net from "node:net"
import type { Tunnels } from "./tunnels.js"

/** Settles when connections are taken. */
export const openEntrance = (port: number, tunnels: Tunnels): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      const tunnel = tunnels.open()
      if (tunnel === undefined) {
        socket.destroy()
        return
      }
      socket.on("error", () => tunnel.destroy())
      socket.once("close", () => tunnel.destroy())
      tunnel.once("close", () => socket.destroy())
      socket.pipe(tunnel).pipe(socket)
    })
    server.once("error", reject)
    server.listen(port, "127.0.0.1", resolve)
    server.unref()
  })
