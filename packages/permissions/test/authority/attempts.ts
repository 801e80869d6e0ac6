/** Tries to get a denied command, path or host through, and to have a plain one stopped; returns what succeeded. */
import * as fc from "fast-check"
import { compile } from "../support.js"
import { evasions, plainLines, plainRules } from "./evasions.js"
import { contacted, isInternal, urls } from "./hosts.js"
import { deniedFile, moves } from "./moves.js"
import { makeDiskTree, makeMemoryTree, meant, paths, type Tree } from "./paths.js"

export interface Attempt {
  readonly kind: string
  readonly tries: number
  /** The smallest input that came out wrong; `undefined` where none did. */
  readonly counterexample: string | undefined
}

const attempt = (kind: string, { tries, seed, inputs, holds }: Search): Attempt => {
  const { failed, counterexample, numRuns } = fc.check(fc.property(inputs, holds), { numRuns: tries, seed })
  return { kind, tries: numRuns, counterexample: failed ? JSON.stringify(counterexample?.[0]) : undefined }
}

interface Search {
  readonly tries: number
  readonly seed: number
  readonly inputs: fc.Arbitrary<string>
  readonly holds: (input: string) => boolean
}

const allowed =
  "git echo cat ls true false find xargs env nice timeout time nohup setsid stdbuf command builtin bash sh eval source trap printf cd exec test : wait".split(
    " "
  )

export const attemptAll = ({
  tries,
  seed
}: {
  readonly tries: number
  readonly seed: number
}): ReadonlyArray<Attempt> => {
  const share = (part: number) => Math.max(1, Math.round(tries * part))
  const inCommand = (rules: ReadonlyArray<string>, more: Parameters<typeof compile>[0] | object = {}) => {
    const policy = compile({ ...more, rules })
    return (command: string) => policy.decide({ toolId: "bash", arguments: { command } }).behavior
  }
  const denied = inCommand(["allow *", 'deny bash(command ~ "forbid *")'])
  const bypassed = inCommand(['deny bash(command ~ "forbid *")'], { mode: "bypass" })
  const listed = inCommand([...allowed.map((name) => `allow bash(command ~ "${name} *")`), "allow write"])
  const moving = inCommand([
    "allow bash",
    `deny read(path ~ "${deniedFile}")`,
    `deny write(path ~ "${deniedFile}")`,
    'allow write(path ~ "**")'
  ])
  const plain = inCommand(plainRules)
  return [
    attempt("a denied command", {
      tries: share(0.2),
      seed,
      inputs: evasions(),
      holds: (line) => denied(line) !== "allow"
    }),
    attempt("a denied command in bypass mode", {
      tries: share(0.1),
      seed: seed + 1,
      inputs: evasions(),
      holds: (line) => bypassed(line) !== "allow"
    }),
    attempt("a command that is not listed", {
      tries: share(0.2),
      seed: seed + 2,
      inputs: evasions(),
      holds: (line) => listed(line) !== "allow"
    }),
    attempt("a denied file in a command", {
      tries: share(0.05),
      seed: seed + 7,
      inputs: moves(),
      holds: (line) => moving(line) !== "allow"
    }),
    attemptPaths("a denied path", { tries: share(0.14), seed: seed + 3, tree: makeMemoryTree() }),
    attemptPaths("a denied path on the disk", { tries: share(0.01), seed: seed + 6, tree: makeDiskTree() }),
    attemptHosts({ tries: share(0.15), seed: seed + 4 }),
    attempt("a plain line is stopped", {
      tries: share(0.15),
      seed: seed + 5,
      inputs: plainLines,
      holds: (line) => plain(line) === "allow"
    })
  ]
}

const attemptPaths = (
  kind: string,
  { tries, seed, tree }: { readonly tries: number; readonly seed: number; readonly tree: Tree }
): Attempt => {
  try {
    const policy = compile({
      workspace: tree.workspace,
      files: tree.view,
      rules: ['allow write(path ~ "src/**")', 'deny write(path ~ "src/locked/**")', 'deny write(path ~ ".env")']
    })
    const holds = (path: string) => {
      const { behavior } = policy.decide({ toolId: "write", arguments: { path } })
      const files = meant(tree, path)
      if (behavior !== "allow" || files === undefined) return true
      const source = `${tree.workspace}/src/`
      return files.every(
        (file) => file.startsWith(source) && !file.startsWith(`${source}locked`) && !file.endsWith("/.env")
      )
    }
    return attempt(kind, { tries, seed, inputs: paths(tree), holds })
  } finally {
    tree.remove()
  }
}

const attemptHosts = ({ tries, seed }: { readonly tries: number; readonly seed: number }): Attempt => {
  const open = compile({ rules: ["allow web_fetch", 'deny web_fetch(url.host ~ "@internal")'] })
  const narrow = compile({ rules: ['allow web_fetch(url.host = "good.test")'] })
  const holds = (url: string) => {
    const decide = (policy: typeof open) => policy.decide({ toolId: "web_fetch", arguments: { url } }).behavior
    if (isInternal(url) && decide(open) !== "deny") return false
    return decide(narrow) !== "allow" || contacted(url) === "good.test"
  }
  return attempt("a denied host", { tries, seed, inputs: urls, holds })
}
