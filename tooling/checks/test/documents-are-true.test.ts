import { describe, expect, it } from "vitest"
import { check, type Files } from "./fixture.js"

const fence = "```"

const good: Files = {
  "README.md": `# Tools\n\n[how](docs/guides/start.md#first-tool) and [rules](docs/)\n\n<!-- from examples/weather.ts#ask -->\n\n${fence}ts\nconst city = "Oslo"\nask(city)\n${fence}\n`,
  "docs/guides/start.md": "# Start\n\n## First tool\n\nUse `npm start`.\n",
  "examples/weather.ts": `export const main = () => {\n  // #region ask\n  const city = "Oslo"\n  ask(city)\n  // #endregion\n}\n`
}

describe("check-docs", () => {
  it("passes when links resolve and snippets are regions of compiled files", () => {
    expect(check("check-docs", good)).toEqual({ status: 0, output: "2 documents\n" })
  })

  it.each<[string, Files, string]>([
    ["a link to nowhere", { "NOTES.md": "[gone](docs/gone.md)\n" }, "NOTES.md:1: link to docs/gone.md leads nowhere\n"],
    [
      "a link to a heading that does not exist",
      { "NOTES.md": "see\n[there](README.md#nothing)\n" },
      "NOTES.md:2: README.md has no heading #nothing\n"
    ],
    [
      "a snippet that drifted from its file",
      { "examples/weather.ts": `// #region ask\nconst city = "Lisbon"\nask(city)\n// #endregion\n` },
      "README.md:5: differs from examples/weather.ts#ask (pnpm docs:write takes the file's text)\n"
    ],
    [
      "a snippet without a source",
      { "packages/x/README.md": `${fence}ts\nask()\n${fence}\n` },
      "packages/x/README.md:1: TypeScript without a source; put <!-- from examples/file.ts#region --> on the line before\n"
    ],
    [
      "a snippet of a file that nothing runs",
      { "docs/guides/start.md": `# Start\n## First tool\n<!-- from src/a.ts#b -->\n${fence}ts\na\n${fence}\n` },
      "docs/guides/start.md:3: no region b in src/a.ts; sources are examples/, the tests and their scenarios\n"
    ],
    ["a long decision", { "docs/adr/0001-x.md": "line\n".repeat(121) }, "docs/adr/0001-x.md: longer than 120 lines\n"],
    [
      "a decision with code",
      { "docs/adr/0001-x.md": `${fence}ts\na\n${fence}\n` },
      "docs/adr/0001-x.md: holds code; a decision is told in words\n"
    ],
    [
      "the path of one machine",
      { "NOTES.md": `look in ${["", "home", "somebody"].join("/")}/code\n` },
      `NOTES.md:1: names a path of one machine, ${["", "home", "somebody"].join("/")}\n`
    ]
  ])("fails on %s", (_, broken, message) => {
    expect(check("check-docs", { ...good, ...broken })).toEqual({ status: 1, output: message })
  })
})
