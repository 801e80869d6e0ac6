/**
 * Starts one of the programs beside this file as a real process, so that it can be killed for real.
 *
 * Guarantees: the program is built once per test file, from the sources; a line that it prints arrives here as it was
 * printed. Does not wait for anything but the process itself.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "vite"

const here = fileURLToPath(new URL(".", import.meta.url))
const output = fileURLToPath(new URL("../../temp/programs/", import.meta.url))

/** A module that looks for others at run time looks from where it stood before it was built into the program. */
const inItsOwnPlace = (code: string, path: string): string =>
  code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))

/** Gives the path of the built program. */
export const built = async (name: string): Promise<string> => {
  const conditions = ["@toolwright/source", "node"]
  const outDir = `${output}${name}-${process.pid}`
  process.once("exit", () => rmSync(outDir, { recursive: true, force: true }))
  await build({
    configFile: false,
    plugins: [{ name: "own-place", transform: inItsOwnPlace }],
    logLevel: "error",
    root: here,
    publicDir: false,
    resolve: { conditions },
    ssr: { noExternal: true, external: ["better-sqlite3"], resolve: { conditions } },
    build: { ssr: `${name}.ts`, outDir, target: "node20", minify: false, emptyOutDir: true }
  })
  return `${outDir}/${name}.js`
}

export interface Ended {
  readonly lines: ReadonlyArray<string>
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly errors: string
}

export interface Running {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
}

/** `onLine` is called for each line as it comes. */
export const start = (
  program: string,
  given: {
    readonly args: ReadonlyArray<string>
    readonly onLine?: (line: string, child: ChildProcess) => void
    readonly uid?: number
  }
): Running => {
  const child = spawn(process.execPath, ["--no-warnings", program, ...given.args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(given.uid === undefined ? {} : { uid: given.uid, gid: given.uid })
  })
  const lines: Array<string> = []
  let errors = ""
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line)
    given.onLine?.(line, child)
  })
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ lines, code, signal, errors }))
  })
  return { process: child, ended }
}
