// A program that puts its letter behind a file's content, as often as it is told, whoever else does so meanwhile.
import * as fs from "node:fs"
import * as path from "node:path"
import { hold } from "../src/internal/heldDirectory.js"
import { FileProblem, readWhole, replace } from "../src/internal/fileContent.js"

const [, , root = "", letter = "", count = "0"] = process.argv
const directory = hold(root)
const { signal } = new AbortController()
const go = path.join(root, "go")
while (!fs.existsSync(go)) await new Promise(setImmediate)
for (let done = 0; done < Number(count);) {
  const { bytes, stat } = readWhole(directory, "f")
  try {
    await replace({ directory, name: "f", bytes: Buffer.concat([bytes, Buffer.from(letter)]), expected: stat, signal })
    done++
  } catch (error) {
    // Somebody was faster: once more, from what is there now.
    if (!(error instanceof FileProblem && error.code === "Changed")) throw error
  }
}
