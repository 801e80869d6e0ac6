// What the Markdown says must be true. Relative links and their anchors resolve; no path of somebody's machine is named;
// a decision record has at most 120 lines and no code;
// every TypeScript fence in a README or a guide is, word for word, a region of a file that is compiled and run:
//   <!-- from examples/weather.ts#define -->      the line before the fence; without #region, the whole file
//   // #region define  ...  // #endregion         in the file
// `--write` puts the present text of the regions into the fences.
import { writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { flag, has, read, report, root, walk } from "./lib/tree.mjs"

const problems = []
const runnable = /^(?:examples\/|(?:packages|apps)\/[^/]+\/(?:test|scenarios)\/)/
const held = (path) => /(?:^|\/)README\.md$/.test(path) || path.startsWith("docs/guides/")
const machinePath = /(?:^|[\s"'`(=:])((?:\/(?:home|root|Users|work|mnt|tmp)\/[\w.-]+)|[A-Z]:\\Users\\)/

const slug = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[`*_]/g, "")
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")
const withoutFences = (text) =>
  text.replaceAll(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, (fence) => fence.replaceAll(/[^\n]/g, ""))
const anchors = (path) =>
  new Set([...withoutFences(read(path)).matchAll(/^#{1,6}\s+(.*)$/gm)].map(([, heading]) => slug(heading)))
const lineOf = (text, index) => text.slice(0, index).split("\n").length

const checkLinks = (path, text) => {
  const plain = withoutFences(text).replaceAll(/`[^`\n]*`/g, (code) => " ".repeat(code.length))
  const targets = [...plain.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g), ...plain.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)]
  for (const match of targets) {
    const [target, anchor] = match[1].split("#")
    if (/^[a-z][a-z+.-]*:/i.test(match[1])) continue
    const file = target === "" ? path : posix.normalize(posix.join(posix.dirname(path), decodeURIComponent(target)))
    const at = `${path}:${lineOf(plain, match.index)}`
    if (file.startsWith("..") || !has(file)) problems.push(`${at}: link to ${match[1]} leads nowhere`)
    else if (anchor && file.endsWith(".md") && !anchors(file).has(anchor))
      problems.push(`${at}: ${file} has no heading #${anchor}`)
  }
}

const regionOf = (file, name) => {
  if (!runnable.test(file) || !has(file)) return undefined
  const lines = read(file).split("\n")
  const from = name === undefined ? -1 : lines.findIndex((line) => line.trim() === `// #region ${name}`)
  if (name !== undefined && from === -1) return undefined
  const kept = []
  let depth = 0
  for (const line of lines.slice(from + 1)) {
    if (line.trim().startsWith("// #region")) depth++
    else if (line.trim().startsWith("// #endregion")) {
      if (depth === 0 && name !== undefined) break
      depth--
    } else kept.push(line)
  }
  const indent = Math.min(...kept.filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)[0].length))
  return kept
    .map((line) => line.slice(Number.isFinite(indent) ? indent : 0))
    .join("\n")
    .trim()
}

const checkSnippets = (path, text) =>
  text.replaceAll(
    /((?:^<!-- from ([^\s#]+)(?:#(\S+))? -->\n\s*)?)^```(ts|tsx|typescript)\n([\s\S]*?)^```$/gm,
    (whole, marker, file, name, language, body, index) => {
      const at = `${path}:${lineOf(text, index)}`
      if (marker === "") {
        problems.push(
          `${at}: TypeScript without a source; put <!-- from examples/file.ts#region --> on the line before`
        )
        return whole
      }
      const region = regionOf(file, name)
      if (region === undefined) {
        problems.push(
          `${at}: no region ${name ?? "(whole file)"} in ${file}; sources are examples/, the tests and their scenarios`
        )
        return whole
      }
      if (region === body.trim()) return whole
      if (!flag("--write"))
        problems.push(
          `${at}: differs from ${file}${name === undefined ? "" : `#${name}`} (pnpm docs:write takes the file's text)`
        )
      return `${marker}\`\`\`${language}\n${region}\n\`\`\``
    }
  )

let count = 0
for (const path of walk(".", (name) => name.endsWith(".md") && !name.startsWith(".changeset/"))) {
  count++
  const text = read(path)
  checkLinks(path, text)
  const machine = machinePath.exec(text)
  if (machine !== null)
    problems.push(`${path}:${lineOf(text, machine.index)}: names a path of one machine, ${machine[1]}`)
  if (/^docs\/adr\/\d/.test(path)) {
    if (text.trimEnd().split("\n").length > 120) problems.push(`${path}: longer than 120 lines`)
    if (/^(?:`{3}|~{3})/m.test(text)) problems.push(`${path}: holds code; a decision is told in words`)
  }
  if (!held(path)) continue
  const written = checkSnippets(path, text)
  if (flag("--write") && written !== text) writeFileSync(join(root, dirname(path), path.split("/").at(-1)), written)
}
report(problems, `${count} documents`)
