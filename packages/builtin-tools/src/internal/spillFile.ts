/**
 * A file inside the workspace for output that is too long to show.
 *
 * Guarantees: lies in a folder that version control leaves alone by itself; never follows a link and never replaces a
 * file; the oldest are removed beyond fifty.
 * Does not survive a wish to delete it: it is an ordinary file.
 */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import type { Sink } from "./keptOutput.js"
import { terminalText } from "./terminalText.js"
import { hold, type HeldDirectory } from "./heldDirectory.js"

/** From the workspace. */
const spillFolder = ".toolwright/output"
const mostFiles = 50

/** `undefined` where the workspace takes no file. `name` is made safe. */
export const openSpill = (root: string, name: string): Sink | undefined => {
  const held: Array<HeldDirectory> = []
  try {
    held.push(hold(root))
    for (const folder of spillFolder.split("/")) held.push(enter(held.at(-1) ?? hold(root), folder))
    const [, own, output] = held
    if (own === undefined || output === undefined) return undefined
    ignoreItself(own)
    removeOldest(output)
    const file = `${name.replace(/[^A-Za-z0-9]+/g, "-").slice(-80)}-${crypto.randomBytes(3).toString("hex")}.txt`
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants
    const descriptor = fs.openSync(output.at(file), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    return {
      path: `${spillFolder}/${file}`,
      write: (text) => fs.writeFileSync(descriptor, terminalText(text)),
      close: () => closeQuietly(descriptor)
    }
  } catch {
    return undefined
  } finally {
    for (const one of held) one.close()
  }
}

const enter = (directory: HeldDirectory, name: string): HeldDirectory => {
  try {
    fs.mkdirSync(directory.at(name), 0o700)
  } catch {
    // It is there, or opening it says what is wrong.
  }
  return directory.open(name)
}

const ignoreItself = (directory: HeldDirectory): void => {
  try {
    fs.writeFileSync(directory.at(".gitignore"), "*\n", { flag: "wx" })
  } catch {
    // It is there.
  }
}

const removeOldest = (directory: HeldDirectory): void => {
  const files = fs
    .readdirSync(directory.at("."))
    .map((name) => ({ name, at: fs.lstatSync(directory.at(name)).mtimeMs }))
  files.sort((left, right) => right.at - left.at)
  for (const { name } of files.slice(mostFiles - 1)) fs.unlinkSync(directory.at(name))
}

const closeQuietly = (descriptor: number): void => {
  try {
    fs.closeSync(descriptor)
  } catch {
    // It was closed when it could not be written.
  }
}
