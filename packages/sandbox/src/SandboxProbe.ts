/**
 * Asks a machine whether it can hold a sandbox, by making one and running `true` in it.
 *
 * Guarantees: never throws; where the answer is no, it says what is missing and how to get it.
 * Does not change the machine.
 */
import { spawnSync } from "node:child_process"
import { findProgram } from "./internal/findProgram.js"
import type { SandboxFault } from "./SandboxError.js"

export type ProbeResult =
  | {
      readonly ok: true
      readonly bubblewrap: string
      readonly version: string
      /** Limits of files and processes need it; without it there are none of those. */
      readonly prlimit: string | undefined
      readonly warnings: ReadonlyArray<string>
    }
  | { readonly ok: false; readonly fault: SandboxFault; readonly message: string }

const install = "install it, on Debian and Ubuntu: apt-get install bubblewrap"

/** `bubblewrap` is the program, by name or absolute path. */
export const probe = (options: { readonly bubblewrap?: string } = {}): ProbeResult => {
  if (process.platform !== "linux") return no("NotLinux", `the sandbox needs Linux; this is ${process.platform}`)
  const program = findProgram(options.bubblewrap ?? "bwrap")
  if (program === undefined)
    return no(
      "NoBubblewrap",
      `the sandbox needs bubblewrap, and ${options.bubblewrap ?? "bwrap"} was not found; ${install}`
    )
  const version = spawnSync(program, ["--version"], { encoding: "utf8", env: {} })
  const tried = spawnSync(program, trial, { encoding: "utf8", env: {}, timeout: 10_000 })
  if (tried.status !== 0) return no("NoNamespaces", explain(tried.stderr || tried.error?.message || "it said nothing"))
  const prlimit = findProgram("prlimit")
  const warnings = [
    ...(prlimit === undefined
      ? ["prlimit was not found: file sizes and open files are not limited (Debian: util-linux)"]
      : []),
    ...(process.arch === "x64" || process.arch === "arm64" ? [] : [`system calls are not filtered on ${process.arch}`])
  ]
  return { ok: true, bubblewrap: program, version: version.stdout.trim(), prlimit, warnings }
}

const trial = [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-uts",
  "--disable-userns",
  "--die-with-parent",
  "--new-session",
  "--clearenv",
  "--ro-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--cap-drop",
  "ALL",
  "--uid",
  "1000",
  "--gid",
  "1000",
  "--",
  "/bin/true"
]

const no = (fault: SandboxFault, message: string): ProbeResult => ({ ok: false, fault, message })

const explain = (said: string): string => {
  const reason = said.trim().split("\n").at(-1) ?? ""
  const hints = [
    ...(/uid map|user namespace|Operation not permitted|Permission denied/i.test(said)
      ? [
          "user namespaces may be switched off: see kernel.unprivileged_userns_clone, user.max_user_namespaces, or an AppArmor profile for bwrap"
        ]
      : []),
    ...(/pivot_root|mount|proc/i.test(said)
      ? ["inside a container, it must be allowed to mount: Docker's default seccomp and masked /proc forbid it"]
      : []),
    ...(/disable-userns|Unknown option/i.test(said) ? ["bubblewrap 0.8 or later is needed"] : [])
  ]
  return ["bubblewrap could not make a sandbox here", reason, ...hints].join("; ")
}
