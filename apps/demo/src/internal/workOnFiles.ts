/**
 * Finding, reading and changing files: what the offline model does with each such request.
 *
 * Guarantees: a file is read before it is changed; where a text stands in several files the person says in which; a
 * refusal is told with its reason and nothing is tried around it.
 * Does not run commands.
 */
import type { FolderIntent } from "./folderRequest.js"
import { ask, askAll, fieldOf, headOf, linesRead, literally, textsOf, unmade, whyNot, type Work } from "./work.js"

type Of<T extends FolderIntent["type"]> = Extract<FolderIntent, { readonly type: T }>

const mostLines = 40

export function* find({ text, place }: Of<"find">): Work {
  const found = yield* ask(`Let me search for “${text}”.`, {
    toolId: "grep",
    arguments: { pattern: literally(text), path: place }
  })
  if (found.isError) return unmade(`search for “${text}”`, found)
  const files = textsOf(found, "files")
  if (files.length === 0) return `“${text}” stands nowhere${place === "." ? "" : ` in ${place}`}.`
  const lines = found.text.split("\n")
  return `“${text}” stands in ${files.length === 1 ? "one file" : `${files.length} files`}:\n${headOf(lines, mostLines)}`
}

export function* listFiles({ pattern }: Of<"files">): Work {
  const wanted = pattern.includes("/") ? pattern : `**/${pattern}`
  const found = yield* ask("Let me look for files.", { toolId: "glob", arguments: { pattern: wanted } })
  if (found.isError) return unmade("look for files", found)
  const files = textsOf(found, "files")
  return files.length === 0 ? `There is no file like ${pattern}.` : headOf(files, mostLines)
}

export function* listFolder({ path }: Of<"folder">): Work {
  const listed = yield* ask("Let me look.", { toolId: "list", arguments: { path, depth: 3 } })
  return listed.isError ? unmade(`list ${path}`, listed) : headOf(listed.text.split("\n"), mostLines)
}

export function* readFiles({ files }: Of<"read">): Work {
  const paths: Array<string> = []
  for (const file of files) {
    const path = /[./]/.test(file) ? file : yield* lookUp(file)
    if (path === undefined) return `There is no file called ${file}.`
    paths.push(path)
  }
  const calls = paths.map((path) => ({ toolId: "read", arguments: { file_path: path } }))
  const read = yield* askAll("Let me read.", calls)
  return read
    .map((each, index) => {
      const path = paths[index] ?? ""
      if (each.isError) return unmade(`read ${path}`, each)
      const lines = each.text
        .split("\n")
        .map((line) => line.replace(/^( *\d+)\t/, (_, number: string) => number.padStart(4) + "  "))
      return `${path}:\n${headOf(lines, mostLines)}`
    })
    .join("\n")
}

/** The file of that name, whatever comes behind the dot; of several the person chooses. */
function* lookUp(name: string): Work<string | undefined> {
  const found = yield* ask(`Let me look for ${name}.`, { toolId: "glob", arguments: { pattern: `**/${name}*` } })
  return yield* choose(textsOf(found, "files"), "Which file do you mean?")
}

function* choose(files: ReadonlyArray<string>, question: string): Work<string | undefined> {
  if (files.length < 2) return files[0]
  const options = files.slice(0, 8).map((file) => ({ label: file.slice(0, 100) }))
  const answer = yield* ask("There are several.", { toolId: "ask_user", arguments: { question, options } })
  const said = fieldOf(answer, "answer")
  return answer.isError || typeof said !== "string" ? undefined : said
}

export function* replaceText({ from, to, file, isAll }: Of<"replace">): Work {
  const path = file ?? (yield* fileWith(from))
  if (path === undefined) return `I changed nothing: I do not know in which file “${from}” should be replaced.`
  const read = yield* ask(`Let me read ${path} first.`, { toolId: "read", arguments: { file_path: path } })
  if (read.isError) return unmade(`read ${path}`, read)
  const change = { file_path: path, old_string: from, new_string: to, ...(isAll ? { replace_all: true } : {}) }
  const edited = yield* ask(`I replace “${from}” with “${to}”.`, { toolId: "edit", arguments: change })
  if (!edited.isError) return changed(path, fieldOf(edited, "replacements"))
  const often = /occurs (\d+) times \(.*?\)/.exec(edited.text)?.[0]
  if (often === undefined) return unmade(`replace “${from}” with “${to}” in ${path}`, edited)
  return `I changed nothing: “${from}” ${often} in ${path}. Say “replace all ${from} with ${to} in ${path}”, or give more of the line.`
}

/** The one file in which a text stands; of several the person chooses. */
function* fileWith(text: string): Work<string | undefined> {
  const given = { pattern: literally(text), output_mode: "files_with_matches" }
  const found = yield* ask(`Let me see where “${text}” stands.`, { toolId: "grep", arguments: given })
  return yield* choose(
    textsOf(found, "files"),
    `In which file should ${JSON.stringify(text.slice(0, 200))} be replaced?`
  )
}

const changed = (path: string, count: unknown): string =>
  `${path} is changed${typeof count === "number" ? `, in ${count === 1 ? "one place" : `${count} places`}` : ""}.`

export function* writeFile({ file, text }: Of<"write">): Work {
  const call = { toolId: "write", arguments: { file_path: file, content: text } }
  const first = yield* ask(`I write ${file}.`, call)
  if (!first.isError) return `${file} is written.`
  // It exists, and who replaces a file should have looked at it.
  if (!first.text.includes("was not read")) return unmade(`write ${file}`, first)
  const read = yield* ask("It exists already; let me read it first.", {
    toolId: "read",
    arguments: { file_path: file }
  })
  if (read.isError) return unmade(`read ${file}`, read)
  const second = yield* ask(`It has ${linesRead(read).length} lines, which I replace.`, call)
  return second.isError ? unmade(`write ${file}`, second) : `${file} is replaced.`
}

export function* moveFile({ from, to }: Of<"move">): Work {
  const moved = yield* ask(`I move ${from}.`, { toolId: "move", arguments: { source: from, destination: to } })
  return moved.isError ? unmade(`move ${from} to ${to}`, moved) : `${from} is ${to} now.`
}

export function* deleteFile({ path }: Of<"delete">): Work {
  const gone = yield* ask(`I delete ${path}.`, { toolId: "delete", arguments: { path } })
  return gone.isError ? unmade(`delete ${path}`, gone) : `${path} is gone.`
}

export function* fetchPage({ url }: Of<"fetch">): Work {
  const page = yield* ask("Let me fetch it.", { toolId: "web_fetch", arguments: { url } })
  return page.isError ? `I have no page from ${url}: ${whyNot(page)}.` : headOf(page.text.split("\n"), mostLines)
}

export function* keepTasks({ tasks }: Of<"tasks">): Work {
  const todos = tasks.map((content) => ({ content, status: "pending" }))
  const given = tasks.length === 0 ? {} : { todos }
  const kept = yield* ask("Let me see to the list.", { toolId: "todo", arguments: given })
  return kept.isError ? unmade("keep the list", kept) : kept.text
}
