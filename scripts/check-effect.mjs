// Two rules about Effect, for the sources of packages that must outlive its minor versions.
// Stable: what packages/{runtime-contract,permissions,runtime}/src takes from `effect` is marked `@stability stable` in
// its declarations; `effect/testing` and the root are never imported there.
// Hot path: packages/runtime/src uses no Effect.fn, Effect.gen or Effect.withSpan, whatever the namespace is called.
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { lineOf, split } from "./lib/source.mjs"
import { read, report, repository, root, walk } from "./lib/tree.mjs"

const held = ["runtime-contract", "permissions", "runtime"]
const slow = new Set(["fn", "gen", "withSpan"])

const require = createRequire(
  existsSync(join(root, "packages/runtime-contract/node_modules/effect"))
    ? join(root, "packages/runtime-contract/package.json")
    : join(repository, "packages/runtime-contract/package.json")
)
const dist = join(dirname(require.resolve("effect/package.json")), "dist")

const declaration =
  /^(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:const|let|function|class|interface|type|namespace)\s+([A-Za-z_$][\w$]*)|^([A-Za-z_$][\w$]*)(?:\s+as\s+([A-Za-z_$][\w$]*))?\s*[,}\n]/

/** name -> stability of each export of one module, from the doc comment before its declaration. */
const stabilities = new Map()
const stabilityOf = (module) => {
  const known = stabilities.get(module)
  if (known !== undefined) return known
  const file = join(dist, `${module}.d.ts`)
  if (!existsSync(file)) return undefined
  const names = new Map()
  const text = readFileSync(file, "utf8")
  for (const match of text.matchAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\/\s*/g)) {
    const stability = /@stability (\w+)/.exec(match[0])?.[1]
    const found = declaration.exec(text.slice(match.index + match[0].length, match.index + match[0].length + 300))
    if (stability === undefined || found === null) continue
    const name = found[1] ?? found[3] ?? found[2]
    if (names.get(name) === undefined || stability !== "stable") names.set(name, stability)
  }
  // an export without a mark of its own has that of its module, whose comment opens the file
  const header = /^\s*\/\*\*(?:[^*]|\*(?!\/))*?@stability (\w+)(?:[^*]|\*(?!\/))*\*\//.exec(text)?.[1]
  const exported =
    /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:const|function|class|interface|type|namespace)\s+([\w$]+)/gm
  for (const [, name] of text.matchAll(exported)) if (header !== undefined && !names.has(name)) names.set(name, header)
  stabilities.set(module, names)
  return names
}

const imports = /^[ \t]*(?:import|export)\s+(type\s+)?([^"';]*?)\s*from\s*["'](effect(?:\/[^"']*)?)["']/gm
const otherImports = /\bimport\s*(?:\(\s*)?["'](effect(?:\/[^"']*)?)["']/g

const problems = []
let checked = 0
for (const file of held.flatMap((name) => walk(`packages/${name}/src`, (path) => path.endsWith(".ts")))) {
  const source = read(file)
  const { code } = split(source)
  const at = (index) => `${file}:${lineOf(source, index)}`
  const use = (index, module, name) => {
    checked++
    const stability = stabilityOf(module)?.get(name)
    if (stability !== "stable") {
      problems.push(
        `${at(index)}: effect/${module} ${name} is ${stability ?? "not a documented export"}; only @stability stable may be used here`
      )
    }
    if (file.startsWith("packages/runtime/") && module === "Effect" && slow.has(name)) {
      problems.push(
        `${at(index)}: Effect.${name} is too slow for the engine; write plain code or one Effect.fnUntraced`
      )
    }
  }
  for (const match of source.matchAll(otherImports)) {
    if (code.slice(match.index, match.index + 6) === "import") {
      problems.push(
        `${at(match.index)}: ${match[1]} is imported for its side effects or dynamically; import the module by name`
      )
    }
  }
  for (const match of source.matchAll(imports)) {
    const start = match.index + match[0].search(/\S/)
    if (!/^(?:import|export)/.test(code.slice(start))) continue
    const [, , clause, specifier] = match
    const module = specifier.slice("effect/".length)
    if (specifier === "effect" || module.startsWith("testing")) {
      problems.push(`${at(start)}: ${specifier} may not be imported here; use a subpath such as effect/Effect`)
      continue
    }
    if (stabilityOf(module) === undefined) {
      problems.push(`${at(start)}: effect/${module} does not exist`)
      continue
    }
    const namespace = /\*\s+as\s+([A-Za-z_$][\w$]*)/.exec(clause)?.[1]
    if (namespace !== undefined) {
      const rest = code.slice(0, start) + " ".repeat(match[0].length) + code.slice(start + match[0].length)
      for (const member of rest.matchAll(
        new RegExp(`(?<![\\w$.])${namespace.replaceAll("$", "\\$")}\\s*\\.\\s*([A-Za-z_$][\\w$]*)`, "g")
      )) {
        use(member.index, module, member[1])
      }
      for (const dynamic of rest.matchAll(new RegExp(`(?<![\\w$.])${namespace.replaceAll("$", "\\$")}\\s*\\[`, "g"))) {
        problems.push(`${at(dynamic.index)}: ${namespace}[...] hides which export is used; name it with a dot`)
      }
      continue
    }
    for (const name of /\{([^}]*)\}/.exec(clause)?.[1].split(",") ?? []) {
      const imported = /^\s*(?:type\s+)?([A-Za-z_$][\w$]*)/.exec(name)?.[1]
      if (imported !== undefined) use(start, module, imported)
    }
  }
}
report(problems, `${checked} uses of Effect are stable, and none in the engine is slow`)
