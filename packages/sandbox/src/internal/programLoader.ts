/**
 * The program that the system uses to load this Node, from its file.
 *
 * Guarantees: total; `undefined` where there is none (a static program) or the file cannot be understood.
 */
import * as fs from "node:fs"
import * as os from "node:os"

/** PT_INTERP of elf.h. */
const interpreter = 3

/** The path that is written in a 64-bit ELF file, little-endian like all machines that a sandbox has a filter for. */
export const loaderOf = (program: string): string | undefined => {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(program, "r")
    const head = Buffer.alloc(4096)
    fs.readSync(descriptor, head, 0, head.length, 0)
    if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) return undefined
    const [at, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)]
    for (let entry = at; entry < at + size * count; entry += size) {
      if (head.readUInt32LE(entry) !== interpreter) continue
      const name = Buffer.alloc(Math.min(4096, Number(head.readBigUInt64LE(entry + 32))))
      fs.readSync(descriptor, name, 0, name.length, Number(head.readBigUInt64LE(entry + 8)))
      return name.toString("utf8").replace(/\0.*$/s, "")
    }
    return undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor)
  }
}

/** Since 5.14 a process that others may not look into can still see which of its own descriptors are inherited. */
export const isKernelReady = (): boolean => {
  const [major = 0, minor = 0] = os.release().split(".").map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
