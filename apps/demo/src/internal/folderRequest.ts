/**
 * Reads a clause about the folder into an intent: find, list, read, replace, write, move, delete, run, test, mend, fetch.
 *
 * Guarantees: deterministic; what is in quotes or backticks is taken to the letter; a clause that is about something else
 * gives nothing.
 * Does not know which files there are: what is missing is found out with the tools.
 */

export type FolderIntent =
  | { readonly type: "find"; readonly text: string; readonly place: string }
  | { readonly type: "files"; readonly pattern: string }
  | { readonly type: "folder"; readonly path: string }
  | { readonly type: "read"; readonly files: ReadonlyArray<string> }
  /** Without a file: wherever it stands. */
  | {
      readonly type: "replace"
      readonly from: string
      readonly to: string
      readonly file: string | undefined
      readonly isAll: boolean
    }
  | { readonly type: "write"; readonly file: string; readonly text: string }
  | { readonly type: "move"; readonly from: string; readonly to: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "test" }
  | { readonly type: "mend" }
  | { readonly type: "fetch"; readonly url: string }
  /** Without tasks: what is on the list. */
  | { readonly type: "tasks"; readonly tasks: ReadonlyArray<string> }

/** Words that begin a clause about the folder. */
export const folderVerbs =
  "find|search|grep|look|list|ls|read|open|show|cat|print|replace|change|create|write|move|rename|delete|remove|run|test|fix|mend|repair|fetch|todo"

export const readFolderClause = (text: string): FolderIntent | undefined => {
  for (const [pattern, make] of forms) {
    const match = pattern.exec(text)
    const intent = match === null ? undefined : make(match.groups ?? {})
    if (intent !== undefined) return intent
  }
  return undefined
}

type Parts = Readonly<Record<string, string | undefined>>

/** Something with a dot or a slash inside, as files have, or anything in quotes. */
const path = String.raw`(?:\x60[^\x60]+\x60|"[^"]+"|(?=[^\s]*[./])[^\s"\x60,]+)`
const said = String.raw`(?:\x60[^\x60]*\x60|"[^"]*"|.+?)`
const theFile = String.raw`(?:the\s+)?(?:files?\s+)?`

const form = (source: string): RegExp => new RegExp(`^${source}$`, "i")

const forms: ReadonlyArray<readonly [RegExp, (parts: Parts) => FolderIntent | undefined]> = [
  [
    form(String.raw`(?:(?:run|start|try)\s+)?(?:the\s+|all\s+|all\s+the\s+)?(?:unit\s+)?tests?`),
    () => ({ type: "test" })
  ],
  [form(String.raw`do\s+(?:the\s+|all\s+)?tests\s+pass`), () => ({ type: "test" })],
  [form(String.raw`(?:fix|mend|repair)\b.*\b(?:tests?|bugs?|it)`), () => ({ type: "mend" })],
  [form(String.raw`(?:fetch|read|open|get)\s+(?<url>https?://\S+)`), ({ url = "" }) => ({ type: "fetch", url })],
  [
    form(
      String.raw`(?:replace|change)\s+(?<all>all\s+|every\s+)?(?<from>${said})\s+(?:with|by|to)\s+(?<to>${said})(?:\s+in\s+${theFile}(?<file>${path}))?(?<more>\s+everywhere)?`
    ),
    ({ from = "", to = "", file, all, more }) => ({
      type: "replace",
      from: bare(from),
      to: bare(to),
      file: file === undefined ? undefined : bare(file),
      isAll: (all ?? more) !== undefined
    })
  ],
  [
    form(String.raw`(?:create|write)\s+${theFile}(?<file>${path})\s+(?:with|saying|containing)\s+(?<text>${said})`),
    ({ file = "", text = "" }) => ({ type: "write", file: bare(file), text: written(text) })
  ],
  [
    form(String.raw`write\s+(?<text>${said})\s+(?:to|into)\s+${theFile}(?<file>${path})`),
    ({ file = "", text = "" }) => ({ type: "write", file: bare(file), text: written(text) })
  ],
  [
    form(String.raw`(?:move|rename)\s+${theFile}(?<from>${path})\s+(?:to|into|as)\s+(?<to>${path})`),
    ({ from = "", to = "" }) => ({ type: "move", from: bare(from), to: bare(to) })
  ],
  [
    form(String.raw`(?:delete|remove)\s+${theFile}(?<path>${path})`),
    ({ path: file = "" }) => ({ type: "delete", path: bare(file) })
  ],
  [
    form(
      String.raw`(?:find|list|which|show)\s+(?:all\s+)?(?:the\s+)?files?\s+(?:named\s+|like\s+|matching\s+|called\s+)?(?<pattern>\S*[*?.]\S*)`
    ),
    ({ pattern = "" }) => ({ type: "files", pattern: bare(pattern) })
  ],
  [
    form(String.raw`(?:read|open|show|cat|print)\s+${theFile}(?<files>${path}(?:(?:\s*,\s*|\s+and\s+)${path})*)`),
    ({ files = "" }) => ({ type: "read", files: (files.match(new RegExp(path, "g")) ?? []).map(bare) })
  ],
  [
    form(String.raw`(?<file>[\w./-]*[A-Za-z][\w-]*\.[A-Za-z]\w{0,5})`),
    ({ file = "" }) => ({ type: "read", files: [file] })
  ],
  [
    form(
      String.raw`(?:list|ls|show)(?:\s+(?:all|the|me|what\s+is\s+in|files|folder|in))*(?:\s+(?<path>${path}|(?<=ls\s+|list\s+)\w+))?`
    ),
    ({ path: folder }) => ({ type: "folder", path: folder === undefined ? "." : bare(folder) })
  ],
  [form(String.raw`(?:what|which)\s+files\s+(?:are|do)\b.*`), () => ({ type: "folder", path: "." })],
  [
    form(
      String.raw`(?:find|search(?:\s+for)?|grep|look\s+for)\s+(?<text>${said})(?:\s+in\s+(?:the\s+)?(?<place>${path}|src|test|tests|lib|docs))?`
    ),
    ({ text = "", place = "." }) =>
      /\b(?:weather|temperature|time in)\b/i.test(text)
        ? undefined
        : { type: "find", text: bare(text), place: bare(place) }
  ],
  [form(String.raw`(?:read|cat)\s+(?<name>[\w-]+)`), ({ name = "" }) => ({ type: "read", files: [name] })],
  [
    form(String.raw`(?:run|execute|\$)\s+(?<command>${said})`),
    ({ command = "" }) => ({ type: "run", command: bare(command) })
  ],
  [
    form(String.raw`todos?(?:\s*:\s*|\s+)(?<tasks>.+)`),
    ({ tasks = "" }) => ({ type: "tasks", tasks: tasks.split(/\s*[,/]\s*/).filter((task) => task !== "") })
  ],
  [form(String.raw`(?:show\s+)?(?:the\s+)?(?:todos?|tasks)(?:\s+list)?`), () => ({ type: "tasks", tasks: [] })]
]

const bare = (text: string): string => {
  const inside = /^(?:\x60([^\x60]*)\x60|"([^"]*)")$/.exec(text.trim())
  return inside === null ? text.trim() : (inside[1] ?? inside[2] ?? "")
}

/** A file ends with a line end; `\n` in what was typed is one. */
const written = (text: string): string => `${bare(text).replaceAll("\\n", "\n")}\n`
