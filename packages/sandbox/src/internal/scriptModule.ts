/**
 * Loads a CommonJS file with the machine code that an earlier process made of it.
 *
 * Guarantees: code that was made of another text, or by another Node, is not used; without any, the file is compiled.
 * Does not check where the code comes from: whoever names the file that holds it trusts it like the module.
 */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import * as vm from "node:vm"

export interface LoadedScript {
  readonly exports: unknown
  /** What makes the next start faster, in base64. Best taken when the module has run: it holds what was compiled so far. */
  readonly code: () => string
}

/** `codeFile` holds what `code` gave, as bytes; an empty or unfit one is ignored. */
export const loadScript = (file: string, codeFile: string | undefined): LoadedScript => {
  const source = fs.readFileSync(file, "utf8")
  const digest = crypto.createHash("sha256").update(source).digest()
  const code = codeFile === undefined ? undefined : fitting(codeFile, digest)
  const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(code === undefined ? {} : { cachedData: code })
  })
  const made: unknown = script.runInThisContext()
  if (typeof made !== "function") throw new TypeError(`${file} is no module`)
  const module: { exports: unknown } = { exports: {} }
  Reflect.apply(made, module.exports, [module.exports, createRequire(file), module, file, path.dirname(file)])
  return {
    exports: module.exports,
    code: () => Buffer.concat([digest, script.createCachedData()]).toString("base64")
  }
}

/** Node compares the length of the text and its own version; two texts of the same length it takes for one. */
const fitting = (codeFile: string, digest: Buffer): Buffer | undefined => {
  const kept = fs.readFileSync(codeFile)
  const [head, code] = [kept.subarray(0, digest.length), kept.subarray(digest.length)]
  return head.equals(digest) && code.length > 0 ? code : undefined
}
