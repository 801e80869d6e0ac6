import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Certainty, FileSystemView, WorkspacePath } from "../src/index.js"
import { compile, type World } from "./support.js"

/** The rows that came out otherwise than written, as they came out. */
const differing = (world: World, rows: ReadonlyArray<readonly [string, string, string]>) => {
  const policy = compile(world)
  return rows.flatMap(([toolId, path, expected]) => {
    const { behavior } = policy.decide({ toolId, arguments: { path } })
    return behavior === expected ? [] : [[toolId, path, behavior]]
  })
}

describe("path rules", () => {
  // C076
  it("[P4] * stops at a slash, ** does not, and a denied name without a slash is denied at any depth", () => {
    const rules = [
      'allow edit(path ~ "src/*")',
      'allow write(path ~ "src/**")',
      "allow read",
      'deny read(path ~ "*.env")'
    ]
    expect(
      differing({ rules }, [
        ["edit", "src/a.ts", "allow"],
        ["edit", "src/deep/b.ts", "ask"],
        // A leading dot is a character like others, for allow and for deny.
        ["edit", "src/.hidden", "allow"],
        ["edit", "src", "ask"],
        ["edit", "srcx/a.ts", "ask"],
        ["write", "src/deep/b.ts", "allow"],
        ["write", "src", "ask"],
        ["read", ".env", "deny"],
        ["read", "pkg/.env", "deny"],
        ["read", "pkg/.env/inside", "deny"],
        ["read", "/elsewhere/prod.env", "deny"],
        ["read", "prod.env.bak", "allow"]
      ])
    ).toEqual([])
  })

  it("[P4] every way of writing a path is the same path", () => {
    const rules = ['allow write(path ~ "src/**")', 'deny write(path ~ "src/locked/**")', 'deny read(path !~ "**")']
    expect(
      differing({ rules }, [
        ["write", "./src/a", "allow"],
        ["write", "src//a", "allow"],
        ["write", "/ws/src/a", "allow"],
        ["write", "src/x/../a", "allow"],
        ["write", "src/../a", "ask"],
        ["write", "src/../../ws/src/a", "allow"],
        ["write", "src/a/", "allow"],
        ["write", "src/locked/a", "deny"],
        ["write", "src/x/../locked/a", "deny"],
        ["write", "./src/./locked//a", "deny"],
        ["write", "file:///ws/src/locked/a", "deny"],
        ["write", "~/src/a", "ask"],
        ["write", "src/a\u0000b", "ask"],
        ["read", "a", "ask"],
        ["read", ".", "ask"],
        ["read", "..", "deny"],
        ["read", "../a", "deny"],
        ["read", "/etc/passwd", "deny"],
        ["read", "~/x", "deny"]
      ])
    ).toEqual([])
  })

  it("[P4] links are followed, also where they dangle, and .. is taken both ways", () => {
    const files = FileSystemView.memory({
      paths: ["/ws", "/ws/src", "/ws/secret", "/out"],
      links: {
        "/ws/src/out": "/out",
        "/ws/src/back": "../secret",
        "/ws/src/new": "/out/not-there-yet",
        "/ws/docs/into": "../src/deep",
        "/ws/src/circle": "circle2",
        "/ws/src/circle2": "circle"
      }
    })
    const rules = [
      'allow write(path ~ "src/**")',
      'deny write(path ~ "secret/**")',
      'deny read(path ~ "/out/**")',
      "allow read"
    ]
    expect(
      differing({ rules, files }, [
        ["write", "src/a", "allow"],
        ["write", "src/out/a", "ask"],
        ["write", "src/new", "ask"],
        ["write", "src/back/a", "deny"],
        // The kernel goes to /, most programs to /ws: neither is what was allowed.
        ["write", "src/out/../src/a", "ask"],
        ["write", "docs/into/../a", "ask"],
        ["write", "src/circle", "ask"],
        ["read", "src/out/a", "deny"],
        ["read", "src/new", "deny"],
        ["read", "/ws/src/out/x/y", "deny"],
        ["read", "src/circle", "ask"]
      ])
    ).toEqual([])
  })

  // C079
  it("[P4] rules are followed through links like requests, so a root that is a link still matches", () => {
    const files = FileSystemView.memory({
      paths: ["/private", "/private/tmp", "/private/tmp/w"],
      links: { "/tmp": "/private/tmp" }
    })
    const rows = [
      ["read", "/tmp/w/a", "allow"],
      ["read", "/private/tmp/w/a", "allow"],
      ["read", "/private/tmp/other/a", "ask"]
    ] as const
    expect(differing({ files, rules: ['allow read(path ~ "/tmp/w/**")'] }, rows)).toEqual([])
    expect(differing({ files, workspace: "/tmp/w", rules: ['allow read(path ~ "**")'] }, rows)).toEqual([])
  })

  // C080
  describe("spelling variants of a denied path", () => {
    const rules = ['deny read(path ~ "~/.ssh/**")', 'deny read(path ~ "**/.env")', 'allow read(path ~ "**")']
    const cafe = ["caf\u00e9/.env", "cafe\u0301/.env"]

    it("[P4] are denied on macOS, where names fold", () => {
      const files = FileSystemView.memory({
        foldsNames: true,
        home: "/Users/u",
        paths: ["/Users", "/Users/u", "/Users/u/.ssh"]
      })
      expect(
        differing({ rules, files }, [
          ["read", "~/.SSH/id", "deny"],
          ["read", "/users/U/.Ssh/id", "deny"],
          ["read", ".ENV", "deny"],
          ["read", "/ws/.env/", "deny"],
          ["read", "/ws/./.env", "deny"],
          ...cafe.map((path) => ["read", path, "deny"] as const),
          ["read", "a", "allow"]
        ])
      ).toEqual([])
    })

    it("[P4] are denied on Windows, in every namespace and by short names", () => {
      const files = FileSystemView.memory({
        style: "win32",
        foldsNames: true,
        home: "C:\\w",
        paths: ["C:\\w", "C:\\w\\.ssh", "C:\\w\\.env"],
        spellings: { "C:\\w\\SECRET~1": ".ssh" }
      })
      expect(
        differing({ rules, files, workspace: "C:\\w" }, [
          ["read", "~/.SSH/id", "deny"],
          ["read", ".ENV", "deny"],
          ["read", ".\\.env", "deny"],
          ["read", "\\\\?\\C:\\w\\.env", "deny"],
          ["read", "//?/c:/w/.env", "deny"],
          ["read", "C:\\w\\SECRET~1\\a", "deny"],
          ["read", "c:\\w\\.env.", "deny"],
          ["read", ".env::$DATA", "deny"],
          ["read", ".env ", "deny"],
          ["read", "C:\\w\\UNKNOW~1\\a", "ask"],
          ...cafe.map((path) => ["read", path, "deny"] as const),
          ["read", "a.txt", "allow"]
        ])
      ).toEqual([])
    })

    it("[P4] are other files on Linux where case differs, and no fold widens an allow", () => {
      const files = FileSystemView.memory({ home: "/home/u" })
      expect(
        differing({ rules, files }, [
          ["read", "~/.SSH/id", "ask"],
          ["read", ".ENV", "allow"],
          ["read", "/ws/.env/", "deny"],
          ["read", "/ws/./.env", "deny"],
          ...cafe.map((path) => ["read", path, "deny"] as const)
        ])
      ).toEqual([])
      const folding = FileSystemView.memory({ foldsNames: true, paths: ["/ws", "/ws/src"] })
      expect(
        differing({ files: folding, rules: ['allow write(path ~ "src/**")', 'allow read(path ~ "SRC/**")'] }, [
          ["write", "src/a", "allow"],
          // The volume spells it src, so it is the same directory.
          ["write", "SRC/a", "allow"],
          ["read", "src/a", "allow"],
          ["write", "\u017frc/a", "ask"]
        ])
      ).toEqual([])
    })
  })

  it("[P4] a path that is no text, or an empty list of paths, is no allowed path", () => {
    const policy = compile({ rules: ['allow delete(path ~ "src/**")', 'deny move(source ~ "locked/**")'] })
    const decide = (toolId: string, args: Record<string, never>) => policy.decide({ toolId, arguments: args }).behavior
    const rows = [
      ["delete", { path: ["src/a", "src/b"] }, "allow"],
      ["delete", { path: ["src/a", "etc/b"] }, "ask"],
      ["delete", { path: [] }, "ask"],
      ["delete", { path: 5 }, "ask"],
      ["delete", {}, "ask"],
      ["move", { source: ["a", "locked/b"] }, "deny"],
      ["move", { source: { path: "a" } }, "ask"]
    ] as const
    expect(rows.map(([tool, args]) => [tool, args, decide(tool, args as never)])).toEqual(rows)
  })

  it("[P4] a rule about path means the file of a call, whatever its tool calls it", () => {
    const policy = compile({
      rules: [
        'allow write(path ~ "src/**")',
        'deny read(file_path ~ "**/.env")',
        'deny web_fetch(url.host ~ "@internal")'
      ]
    })
    const rows = [
      ["write", { file_path: "src/a" }, "allow"],
      ["write", { filePath: "src/a" }, "allow"],
      ["write", { path: "src/a", file_path: "etc/a" }, "ask"],
      ["write", { path: "etc/a", file_path: "src/a" }, "ask"],
      ["read", { path: ".env" }, "deny"],
      ["read", { path: "a", file_path: ".env" }, "deny"],
      ["web_fetch", { uri: "http://127.0.0.1/" }, "deny"]
    ] as const
    expect(rows.map(([toolId, args]) => [toolId, args, policy.decide({ toolId, arguments: args }).behavior])).toEqual(
      rows
    )
  })

  it("[P4] what surely matches also loosely matches, and no path both lies inside and outside", () => {
    const place = { workspace: "/ws", view: FileSystemView.memory({ links: { "/ws/l": "/out", "/out/b": "../ws" } }) }
    const names = fc.constantFrom("a", "b", "l", "..", ".", "", "ws", "out", "\u00e9", "A")
    const paths = fc.array(names, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"))
    const globs = fc
      .array(fc.constantFrom("a", "b", "l", "*", "**", "?", "out", "ws"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"))
    fc.assert(
      fc.property(paths, globs, fc.boolean(), (text, glob, absolute) => {
        const path = WorkspacePath.resolve(place, { path: absolute ? `/${text}` : text })
        const certainty = WorkspacePath.compile(place, glob)(path)
        const below = WorkspacePath.compile(place, `${glob}/**`)(path)
        expect(below !== Certainty.Surely || certainty >= Certainty.Loosely).toBe(true)
        const inside = WorkspacePath.isInside(place, path)
        expect(WorkspacePath.compile(place, "**")(path) === Certainty.Surely).toBe(inside)
      }),
      { numRuns: 3_000 }
    )
  })

  it("[P4] ** inside of a name is refused", () => {
    expect(["src/**", "**", "a/**/b", "a**", "src/**x/b"].map((glob) => WorkspacePath.problemOfPattern(glob))).toEqual([
      undefined,
      undefined,
      undefined,
      "** alone between slashes, as in src/**/test",
      "** alone between slashes, as in src/**/test"
    ])
  })
})

describe("the disk of this machine", () => {
  it("[P4] is read name by name, through links", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "permissions-")))
    try {
      await mkdir(join(root, "ws"))
      await mkdir(join(root, "out"))
      await symlink(join(root, "out"), join(root, "ws", "link"))
      await symlink("nowhere", join(root, "ws", "dangling"))
      const rows = [
        ["write", "a", "allow"],
        ["write", "link/a", "ask"],
        ["write", "dangling", "allow"],
        ["write", join(root, "out", "a"), "ask"]
      ] as const
      const world = { workspace: join(root, "ws"), files: FileSystemView.node(), rules: ['allow write(path ~ "**")'] }
      expect(differing(world, rows)).toEqual([])
    } finally {
      await rm(root, { recursive: true })
    }
  })
})
