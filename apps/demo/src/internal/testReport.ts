/**
 * What a run of `node --test` says, in both of its forms: TAP, and the one for people.
 *
 * Guarantees: takes only what stands there; a test that holds others fails because of them and is no failure of its own.
 * Does not run anything.
 */

export interface TestFailure {
  readonly name: string
  /** Where the test stands, as the report says it. */
  readonly file: string | undefined
  readonly line: number | undefined
  readonly error: string
  readonly expected: string | undefined
  readonly actual: string | undefined
  /** Places in files, innermost first. */
  readonly stack: ReadonlyArray<{ readonly file: string; readonly line: number }>
}

export interface TestReport {
  readonly passed: number
  readonly failed: number
  readonly failures: ReadonlyArray<TestFailure>
}

/** `undefined`: that is no report. */
export const readTestReport = (output: string): TestReport | undefined => {
  const text = output.replaceAll("\r\n", "\n")
  const count = (name: string): number | undefined => {
    const found = new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, "m").exec(text)?.[1]
    return found === undefined ? undefined : Number(found)
  }
  const failed = count("fail")
  if (failed === undefined) return undefined
  const failures = /^TAP version/m.test(text) ? tapFailures(text) : peopleFailures(text)
  return { passed: count("pass") ?? 0, failed, failures }
}

const tapFailures = (text: string): ReadonlyArray<TestFailure> =>
  [...text.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n([^]*?)\n\1 {2}\.\.\.$/gm)].flatMap(
    ([, , name = "", body = ""]) => {
      if (/failureType: '(?:subtestsFailed|testsFailed)'/.test(body)) return []
      const [, file, line] = /location: '(.*?):(\d+):\d+'/.exec(body) ?? []
      const block = /^( *)error: \|-\n((?:\1 {2}.*\n|\s*\n)*)/m.exec(body)?.[2]
      const error = block ?? /error: (.*)/.exec(body)?.[1] ?? ""
      return [failure({ name, file, line, error, body })]
    }
  )

const peopleFailures = (text: string): ReadonlyArray<TestFailure> => {
  const tail = text.split(/^✖ failing tests:$/m)[1] ?? ""
  return tail
    .split(/^(?=test at )/m)
    .slice(1)
    .map((body) => {
      const [, file, line] = /^test at (.*?):(\d+):\d+$/m.exec(body) ?? []
      const name = /^✖ (.*?)(?: \([\d.]+ms\))?$/m.exec(body)?.[1] ?? ""
      const error =
        body
          .split("\n")
          .slice(2)
          .join("\n")
          .split(/^\s+at /m)[0] ?? ""
      return failure({ name, file, line, error, body })
    })
}

interface Found {
  readonly name: string
  readonly file: string | undefined
  readonly line: string | undefined
  readonly error: string
  readonly body: string
}

const failure = ({ name, file, line, error, body }: Found): TestFailure => ({
  name: name.replace(/ # .*$/, ""),
  file,
  line: line === undefined ? undefined : Number(line),
  error: error
    .split("\n")
    .map((each) => each.trim())
    .filter((each) => each !== "" && !/^\}$/.test(each))
    .join(" ")
    .replace(/^"(.*)"$/, "$1"),
  expected: valueOf(body, "expected"),
  actual: valueOf(body, "actual"),
  stack: [...body.matchAll(/\(?file:\/\/(\/[^\s)]+?):(\d+):\d+\)?/g)].map(([, at = "", where = "0"]) => ({
    file: decodeURIComponent(at),
    line: Number(where)
  }))
})

const valueOf = (body: string, name: string): string | undefined =>
  new RegExp(`^\\s*${name}: (.*?),?$`, "m").exec(body)?.[1]
