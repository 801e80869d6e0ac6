// Builds one of the programs beside this file, from the sources of all packages, so that a plain Node can run it, be
// killed in it and start again. As a command, `node built.mjs crash [arguments]` builds it, runs it and ends as it ends.
import { spawn } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "vite"

const here = fileURLToPath(new URL(".", import.meta.url))
// Below this workspace, where better-sqlite3 is found.
const output = fileURLToPath(new URL("../temp/programs/", import.meta.url))
const contract = fileURLToPath(new URL("../../../packages/runtime-contract/node_modules", import.meta.url))

/** Gives the path of the built program. It is there for as long as this process. */
export const built = async (name) => {
  const conditions = ["@toolwright/source", "node"]
  const outDir = `${output}${name}-${process.pid}`
  process.once("exit", () => rmSync(outDir, { recursive: true, force: true }))
  await build({
    configFile: false,
    logLevel: "error",
    root: here,
    publicDir: false,
    resolve: { conditions },
    ssr: { noExternal: true, external: ["better-sqlite3"], resolve: { conditions } },
    build: { ssr: `${name}.ts`, outDir, target: "node20", minify: false, emptyOutDir: true }
  })
  // The contract loads its validator when it is needed, from where it stands; the bundle stands elsewhere.
  mkdirSync(`${outDir}/node_modules`)
  for (const validator of ["ajv", "ajv-formats"])
    symlinkSync(`${contract}/${validator}`, `${outDir}/node_modules/${validator}`, "junction")
  return `${outDir}/${name}.js`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2)
  const child = spawn(process.execPath, ["--no-warnings", await built(name), ...args], { stdio: "inherit" })
  child.on("close", (code, signal) => {
    if (code !== 0 && code !== 1) console.error(`${name} ended with ${signal ?? code}`)
    process.exitCode = code ?? 1
  })
}
