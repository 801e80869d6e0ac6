/** Lines that read or write a denied file whose path is split between the directories they go to and their words. */
import * as fc from "fast-check"

/** The file that the policy under test denies, from the workspace. */
export const deniedFile = "vault/keys/main"

const names = ["vault", "keys"] as const

const step = fc.constantFrom(
  (name: string) => `cd ${name} && `,
  (name: string) => `cd ./${name}; `,
  (name: string) => `cd ${name}/../${name} || `,
  (name: string) => `cd "${name}" >/dev/null\n`,
  (name: string) => `ls | wc; cd -- ${name}\n`
)

const last = fc.constantFrom("main", "./main", "m*", "mai?", "../keys/main", "'main'", "ma[i]n")

const reader = fc.constantFrom(
  "cat ",
  "head -n 1 ",
  "grep x ",
  "sed -n p ",
  "cp -t /tmp ",
  "cat < ",
  "tee ",
  "sort -o ",
  "timeout 5 cat "
)

const around = fc.constantFrom(
  (line: string) => line,
  (line: string) => `(${line})`,
  (line: string) => `if true; then ${line}; fi`,
  (line: string) => `true && { ${line}; }`
)

export const moves = (): fc.Arbitrary<string> =>
  fc
    .record({
      depth: fc.integer({ min: 0, max: names.length }),
      steps: fc.tuple(step, step),
      file: last,
      read: reader,
      wrap: around
    })
    .map(({ depth, steps, file, read, wrap }) => {
      const gone = steps.slice(0, depth).map((go, index) => go(names[index] ?? ""))
      return wrap(gone.join("") + read + [...names.slice(depth), file].join("/"))
    })
