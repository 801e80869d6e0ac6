import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { evasions } from "./authority/evasions.js"
import { makeScratch } from "./authority/bash.js"
import { onCommands } from "./support.js"

describe("the grammar of evasions", () => {
  const scratch = makeScratch(["/usr/local/bin", "/usr/bin", "/bin"], ["forbid", "git"])
  afterAll(scratch.remove)

  it("writes lines that really run the denied command", { timeout: 120_000 }, () => {
    const lines = fc.sample(evasions(), { numRuns: 40, seed: 4 })
    const idle = lines.filter((line) => !scratch.ran(line).includes("forbid"))
    expect(idle).toEqual([])
  })
})

describe("a line that was allowed", () => {
  const stubs = ["forbid", "git", "ls", "cat", "alpha", "beta"]
  const scratch = makeScratch([], stubs)
  afterAll(scratch.remove)

  /** Pieces of Bash in no particular order: most lines are nonsense, and some are worse. */
  const pieces = fc.constantFrom(
    "alpha",
    "beta",
    "forbid",
    "forbid",
    "git",
    "ls",
    "x",
    "'",
    '"',
    "\\",
    "$",
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    " ",
    " ",
    " ",
    "<<E",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    "$((",
    "))",
    "[[",
    "]]",
    "${a:-",
    "${a@P}",
    "$'",
    "\\x66",
    "eval",
    "if",
    "then",
    "fi",
    "for i in 1; do",
    "done",
    "case x in x)",
    ";; esac",
    "a=forbid",
    "$a",
    "${a}",
    "#",
    "!",
    "=",
    "~",
    "*",
    "?",
    "[f]",
    "{forbid,x}",
    "echo",
    "command",
    "builtin",
    "exec",
    "time",
    "function f",
    "f()",
    "coproc",
    "trap",
    "EXIT",
    "\t",
    "\\\n",
    "-c",
    "test",
    ":",
    "set --",
    "printf -v",
    "read a",
    "'forbid x'"
  )
  const lines = fc.array(pieces, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(""))

  it("[P5] runs nothing that was denied, whatever the line looks like", { timeout: 120_000 }, () => {
    const decide = onCommands(["allow *", "deny forbid *"])
    const allowed = fc
      .sample(lines, { numRuns: 20_000, seed: 11 })
      .filter((line) => line.includes("forbid") && decide(line).behavior === "allow")
      .slice(0, 50)
    expect(allowed.length).toBe(50)
    expect(allowed.filter((line) => scratch.ran(line).includes("forbid"))).toEqual([])
  })

  it("[P5] runs only what was allowed, whatever the line looks like", { timeout: 120_000 }, () => {
    const decide = onCommands([
      ..."alpha echo : true false command builtin time test".split(" ").map((name) => `allow ${name} *`),
      "allow write"
    ])
    const allowed = fc
      .sample(lines, { numRuns: 40_000, seed: 12 })
      .filter((line) => decide(line).behavior === "allow")
      .slice(0, 50)
    expect(allowed.length).toBe(50)
    expect(allowed.filter((line) => scratch.ran(line).some((name) => name !== "alpha"))).toEqual([])
  })
})
