/**
 * A grammar of command lines that run `forbid x`, and one of plain lines that do not.
 *
 * Every evasion really runs the command when Bash is given it: `evasions-are-real.test.ts` holds the grammar to that.
 */
import * as fc from "fast-check"

/** One way of writing text so that Bash reads it as this one word. */
const spelled = (word: string): fc.Arbitrary<string> => {
  const character = (char: string) => {
    const code = char.charCodeAt(0)
    const plain = /[\w./-]/.test(char) ? [char, char, char] : []
    return fc.constantFrom(
      ...plain,
      `\\${char}`,
      `'${char}'`,
      `"${char}"`,
      `$'${char}'`,
      `$'\\x${code.toString(16)}'`,
      `$'\\${code.toString(8).padStart(3, "0")}'`,
      `$'\\u${code.toString(16).padStart(4, "0")}'`,
      `''${char === " " ? "' '" : `'${char}'`}`
    )
  }
  const joint = fc.constantFrom("", "", "", "", "''", '""', "\\\n")
  return fc
    .tuple(...Array.from(word, character).flatMap((char, index) => (index === 0 ? [char] : [joint, char])))
    .map((parts) => parts.join(""))
}

const space = fc.constantFrom(" ", " ", " ", "  ", "\t", " \\\n ")

/** Quoted so that Bash reads it as one word. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const direct = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: spelled("forbid") },
      fc.constantFrom(
        "./bin/forbid",
        "bin/forbid",
        "bin/../bin/forbid",
        "./bin//forbid",
        "bin/forb?d",
        "bin/[f]orbid",
        "bin/f*d"
      ),
      fc.constantFrom(
        "$F",
        "${F}",
        '"$F"',
        "${F:-x}",
        "f${N}orbid",
        "$(echo forbid)",
        "`echo forbid`",
        "f$(:)orbid",
        "${F/x/y}",
        "$F$N"
      )
    ),
    space,
    fc.oneof(spelled("x"), fc.constantFrom("x", "$HOME", "-rf x", "a b c"))
  )
  .map(([command, gap, argument]) => `${command}${gap}${argument}`)

const assigned = direct.map((line) => (/\$\{?[FN]/.test(line) ? `F=forbid; N=; ${line}` : line))

const braced = fc.constantFrom("{forbid,x}", "{forbid,x,y}", "{f,}orbid x".replace("{f,}orbid", "{forbid,y}"))

const prefixes = [
  "nohup",
  "time",
  "time -p",
  "nice",
  "nice -n 5",
  "nice -5",
  "timeout 5",
  "timeout -k 1 5",
  "timeout --signal=TERM 5",
  "setsid -w",
  "stdbuf -oL",
  "stdbuf -o L",
  "env",
  "env A=1",
  "env -i PATH=$PATH LOG=$LOG",
  "env -u A",
  "env --",
  "command",
  "command --",
  "env PATH=$PATH",
  "builtin command",
  "xargs",
  "xargs -0 -n 1",
  "A=1",
  "A=1 B='2'",
  "LC_ALL=C",
  "> out",
  "2>/dev/null",
  "< /dev/null"
]

const inShell = ["command", "command --", "builtin command"]

/** One simple command behind wrappers: a keyword, then assignments and redirections, then builtins, then programs. */
const wrapped = fc
  .tuple(fc.array(fc.constantFrom(...prefixes), { minLength: 1, maxLength: 4 }), spelled("forbid"))
  .map(([outer, command]) => {
    const rank = (prefix: string) => {
      if (prefix.startsWith("time") && !prefix.startsWith("timeout")) return 0
      if (/^(?:[A-Z]|[>2<])/.test(prefix)) return 1
      return inShell.includes(prefix) ? 2 : 3
    }
    const sorted = outer.map((prefix) => ({ prefix, rank: rank(prefix) })).sort((left, right) => left.rank - right.rank)
    // `time` is a keyword once, and a program that may not be there after that.
    const kept = sorted.filter((each, index) => each.rank !== 0 || index === 0).map(({ prefix }) => prefix)
    return [...kept, command, "x </dev/null"].join(" ")
  })

const found = fc.constantFrom(
  "find . -maxdepth 0 -exec forbid x \\;",
  "find . -maxdepth 0 -exec forbid {} +",
  "find . -maxdepth 0 -execdir env forbid x ';'",
  "echo x | xargs forbid",
  "echo x | xargs -I{} forbid {}",
  "echo forbid | xargs -I@ env @ x",
  "echo 'forbid x' | xargs -I{} sh -c '{}'"
)

/** Lines that run another line. */
const around = (line: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom<(inner: string) => string>(
        (inner) => `git log; ${inner}`,
        (inner) => `git log && ${inner}`,
        (inner) => `false || ${inner}`,
        (inner) => `git log\n${inner}`,
        (inner) => `git log # done\n${inner}`,
        (inner) => `git log & ${inner}`,
        (inner) => `git log | { ${inner}\n}`,
        (inner) => `{ ${inner}\n} | cat`,
        (inner) => `(${inner}\n)`,
        (inner) => `{ ${inner}\n}`,
        (inner) => `! { ${inner}\n}`,
        (inner) => `if true; then ${inner}\nfi`,
        (inner) => `if ${inner}\nthen git log; fi`,
        (inner) => `while ${inner}\ndo break; done`,
        (inner) => `until ${inner}\ndo break; done`,
        (inner) => `for i in 1; do ${inner}\ndone`,
        (inner) => `case a in a) ${inner}\n;; esac`,
        (inner) => `echo $(${inner}\n)`,
        (inner) => `echo "a $(${inner}\n) b"`,
        (inner) => `echo a$(${inner}\n)`,
        (inner) => `cat <(${inner}\n)`,
        (inner) => `cat <<E${inner.length}\n$(${inner}\n)\nE${inner.length}`,
        (inner) => `cat <<< "$(${inner}\n)"`,
        (inner) => `echo \${X:-$(${inner}\n)}`,
        (inner) => `echo \${X:=$(${inner}\n)}`,
        (inner) => `echo "\${X:-"$(${inner}\n)"}"`,
        (inner) => `X=$(${inner}\n)`,
        (inner) => `X=$(${inner}\n) git log`,
        (inner) => `[[ -z $(${inner}\n) ]]`,
        (inner) => `echo $((0$(${inner}\n)))`,
        (inner) => `git log > "$(${inner}\n)out"`,
        (inner) => `f() { ${inner}\n}; f`,
        (inner) => `function ls { ${inner}\n}; ls`,
        (inner) => `git log; time { ${inner}\n}`,
        (inner) => `eval ${quote(inner)}`,
        (inner) => `eval "$(echo ${quote(inner)})"`,
        (inner) => `bash -c ${quote(inner)}`,
        (inner) => `sh -c 'bash -c "$0"' ${quote(inner)}`,
        (inner) => `env bash -ec ${quote(inner)}`,
        (inner) => `bash -c -e -- ${quote(inner)}`,
        (inner) => `eval -- ${quote(inner)}`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; let x=y`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; declare -i n=y`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; b=([y]=1)`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; read 'b[y]' <<< 1`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; [[ y -eq 1 ]]`,
        (inner) => `y=${quote(`a[$(${inner}\n)]`)}; echo \${b[y]}`,
        (inner) => `declare -n r=${quote(`a[$(${inner}\n)]`)}; echo $r`,
        (inner) => `echo ${quote(inner)} | bash 3<<< 'git log'`,
        (inner) => `echo ${quote(inner)} | bash`,
        (inner) => `bash <<'H${inner.length}'\n${inner}\nH${inner.length}`,
        (inner) => `bash <<< ${quote(inner)}`,
        (inner) => `bash <(echo ${quote(inner)})`,
        (inner) => `source <(echo ${quote(inner)})`,
        (inner) => (inner.includes("trap ") ? inner : `trap ${quote(inner)} EXIT`),
        (inner) => `cd . && ${inner}`,
        (inner) => `: "$(${inner}\n)"`,
        (inner) => `a=(1 $(${inner}\n))`,
        (inner) => `git log 2>&1 >/dev/null; ${inner}`,
        (inner) => `\t ${inner}`
      ),
      line
    )
    .map(([frame, inner]) => frame(inner))
    // `$((` begins arithmetic.
    .map((text) => text.replaceAll("$((echo", "$( (echo").replaceAll(/\$\(\((?!0\$|1)/g, "$( ("))

const base = fc.oneof({ weight: 3, arbitrary: assigned }, braced, { weight: 2, arbitrary: wrapped }, found)

/** A line that runs `forbid`, inside of at most `depth` others. */
export const evasions = (depth = 3): fc.Arbitrary<string> => {
  let lines = base
  for (let level = 0; level < depth; level++)
    lines = fc.oneof({ weight: 1, arbitrary: base }, { weight: 3, arbitrary: around(lines) })
  return lines
}

const words = fc.constantFrom(
  "src",
  "src/a.ts",
  "README.md",
  "--stat",
  "-n",
  "5",
  "HEAD~1",
  "'two words'",
  '"quoted"',
  "a\\ b",
  "--format=%H",
  "*.ts",
  "café"
)

/** Commands that any of the rules of `plainRules` allows. */
const simple = fc
  .tuple(
    fc.constantFrom("git log", "git status", "git diff", "ls", "cat", "echo", "grep -n"),
    fc.array(words, { maxLength: 3 })
  )
  .map(([command, args]) => [command, ...args].join(" "))

export const plainRules: ReadonlyArray<string> = [
  ...["git", "ls", "cat", "echo", "grep", "cd", "true", "read", "test", "wc"].map(
    (name) => `allow bash(command ~ "${name} *")`
  ),
  'allow write(path ~ "src/**")',
  'deny bash(command ~ "forbid *")',
  'deny bash(command ~ "git push *")',
  'deny write(path ~ "src/locked/**")',
  'deny read(path ~ "**/.env")',
  'deny web_fetch(url.host ~ "@internal")'
]

/** Lines that hold nothing odd and nothing that is denied. */
export const plainLines: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom<(one: string, other: string) => string>(
      (one) => one,
      (one) => `${one} 2>&1`,
      (one) => `${one} > /dev/null`,
      (one) => `${one} > src/out.txt`,
      (one) => `${one} >> src/out.txt 2>/dev/null`,
      (one, other) => `${one} && ${other}`,
      (one, other) => `${one} | ${other}`,
      (one, other) => `${one}; ${other}`,
      (one, other) => `${one} || ${other}`,
      (one, other) => `${one}\n${other}`,
      (one, other) => `(${one}; ${other})`,
      (one, other) => `if ${one}; then ${other}; fi`,
      (one) => `NODE_ENV=test ${one}`,
      (one) => `timeout 10 ${one}`,
      (one) => `nohup ${one}`,
      (one) => `time ${one}`,
      (one) => `nice -n 5 ${one}`,
      (one) => `cd src && ${one}`,
      (one) => `bash -c ${quote(one)}`,
      (one) => `echo "$(${one})"`,
      (one) => `cat <<'E'\n$(forbid x)\nE\n${one}`,
      (one) => `cat <<E\nhello\nE\n${one}`,
      (one) => `echo 'forbid x' && ${one}`,
      (one) => `${one} # forbid x`,
      (one) => `${one} --message="do not forbid"`,
      (one, other) => `${one} | xargs -n 1 ${other}`
    ),
    simple,
    simple
  )
  .map(([frame, one, other]) => frame(one, other))
  // A word that only the shell knows may be any path, so these would be asked about for the sake of the denied .env.
  .filter((line) => !/\*\.ts|xargs|"\$\(/.test(line))
