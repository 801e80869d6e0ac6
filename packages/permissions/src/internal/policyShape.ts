/**
 * The shape of a policy file, once: the reader checks by it, and the published JSON Schema is made from it.
 */

export type Shape =
  | {
      readonly kind: "scalar"
      readonly expected: string
      readonly accepts: (value: string | number | boolean | null) => boolean
      readonly schema: Readonly<Record<string, unknown>>
    }
  | { readonly kind: "list"; readonly expected: string; readonly items: string }
  | {
      readonly kind: "object"
      readonly expected: string
      /** Key to the name of its shape. */
      readonly keys: ReadonlyMap<string, string>
      /** The shape of every other key; none where other keys are refused. */
      readonly others: string | undefined
      readonly required: ReadonlyArray<string>
      /** What each key is for. */
      readonly notes: Readonly<Record<string, string>>
    }

const oneOf = (...values: ReadonlyArray<string>): Shape => ({
  kind: "scalar",
  expected: `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
  accepts: (value) => typeof value === "string" && values.includes(value),
  schema: { enum: values }
})

const text: Shape = {
  kind: "scalar",
  expected: "a text that is not empty",
  accepts: (value) => typeof value === "string" && value !== "",
  schema: { type: "string", minLength: 1 }
}

const count = (expected: string, least: number): Shape => ({
  kind: "scalar",
  expected,
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= least,
  schema: { type: "integer", minimum: least }
})

const flag: Shape = {
  kind: "scalar",
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
  schema: { type: "boolean" }
}

const list = (items: string, expected: string): Shape => ({ kind: "list", expected, items })

interface Keys {
  readonly [key: string]: readonly [shape: string, note: string]
}

const object = (
  expected: string,
  {
    keys,
    required = [],
    others
  }: { readonly keys: Keys; readonly required?: ReadonlyArray<string>; readonly others?: string }
): Shape => ({
  kind: "object",
  expected,
  keys: new Map(Object.entries(keys).map(([key, [shape]]) => [key, shape])),
  others,
  required,
  notes: Object.fromEntries(Object.entries(keys).map(([key, [, note]]) => [key, note]))
})

export const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  [
    "policy",
    object("a policy object", {
      keys: {
        $schema: ["text", "The schema of this file, for editors."],
        rules: ["rules", "What may run, what is asked about, what never runs. Their order does not matter."],
        default: ["behavior", "For what no rule matches. Default ask."],
        mode: [
          "mode",
          "acceptEdits: file edits inside the workspace need no asking. plan: nothing that writes. bypass: everything that is not denied."
        ],
        tools: ["tools", "What is known of tools: their effect, and which arguments are paths, URLs or command lines."],
        variables: ["texts", "Variables that may be set before a shell command."],
        protected: ["texts", "Path globs that acceptEdits does not cover."],
        files: ["files", "The tools whose rules say what a shell command may do with files."]
      },
      required: ["rules"]
    })
  ],
  ["rules", list("rule", "an array of rules")],
  [
    "rule",
    object("a rule object", {
      keys: {
        pattern: ["text", 'A tool id, a glob over ids, or either with conditions: write(path ~ "src/**").'],
        behavior: ["behavior", "Deny is absolute; of allow and ask the most specific decides."],
        reason: ["text", "Told to whoever is asked, and to the model where it denies."],
        approvers: ["texts", "For ask: who may answer."],
        quorum: ["quorum", "For ask: how many must allow. Default 1."],
        requesterMayAnswer: ["flag", "For ask: may the principal of the run answer for itself? Default true."],
        timeout: ["milliseconds", "For ask: milliseconds after which no answer is a denial."]
      },
      required: ["pattern", "behavior"]
    })
  ],
  ["behavior", oneOf("allow", "ask", "deny")],
  ["mode", oneOf("default", "acceptEdits", "plan", "bypass")],
  ["text", text],
  ["texts", list("text", "an array of texts")],
  ["flag", flag],
  ["quorum", count("a whole number from 1", 1)],
  ["milliseconds", count("a whole number of milliseconds from 1", 1)],
  ["tools", object("an object of tools by id or glob", { keys: {}, others: "tool" })],
  [
    "tool",
    object("what is known of a tool", {
      keys: {
        effect: ["effect", "What kind of effect it has. Unknown counts as writing."],
        fields: ["fields", "Its arguments that are no plain text, by dotted path."],
        directory: [
          "text",
          "Name of the thread's state under which it keeps the directory that its next call starts in."
        ]
      }
    })
  ],
  ["effect", oneOf("read", "edit", "network", "execute", "unknown")],
  ["fields", object("an object of kinds by argument", { keys: {}, others: "kind" })],
  ["kind", oneOf("path", "url", "command", "text")],
  [
    "files",
    object("the tools that stand for files", {
      keys: {
        write: ["texts", "A redirection that writes needs an allow of the first."],
        read: ["texts", "Heard for what they deny."]
      }
    })
  ]
])

/** The JSON Schema (2020-12) of a policy file. */
export const policySchema = (): Readonly<Record<string, unknown>> => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Toolwright permission policy",
  $ref: "#/$defs/policy",
  $defs: Object.fromEntries([...shapes].map(([name, shape]) => [name, schemaOf(shape)]))
})

const schemaOf = (shape: Shape): Readonly<Record<string, unknown>> => {
  if (shape.kind === "scalar") return shape.schema
  if (shape.kind === "list") return { type: "array", items: { $ref: `#/$defs/${shape.items}` } }
  const properties = [...shape.keys].map(
    ([key, name]) => [key, { $ref: `#/$defs/${name}`, description: shape.notes[key] }] as const
  )
  return {
    type: "object",
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(shape.required.length === 0 ? {} : { required: shape.required }),
    additionalProperties: shape.others === undefined ? false : { $ref: `#/$defs/${shape.others}` }
  }
}
