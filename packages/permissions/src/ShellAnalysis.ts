/**
 * What one shell command line would do, as far as that can be told without running it.
 *
 * Guarantees: plain data. Every simple command that may run is a part, also inside of substitutions, wrappers and
 * scripts in arguments; every redirection is a file; whatever was not understood is a problem, said in words.
 * Does not decide, and does not parse: `@toolwright/permissions/shell` does that, and is loaded only where it is needed.
 */

/**
 * `Runs`: needs an allow of its own. `Wraps`: only starts other parts, so only denials and asks are heard.
 * `May`: perhaps a command, inside of one whose arguments are not understood; a denial of it is a doubt.
 */
export type PartRole = "Runs" | "Wraps" | "May"

export interface ShellPart {
  readonly role: PartRole
  /** The spelling that an allow must match: single spaces, quotes only where needed, NUL for what is not known. */
  readonly exact: string
  /** Every spelling that a deny may match. */
  readonly spellings: ReadonlyArray<string>
  /** The words, unquoted. */
  readonly words: ReadonlyArray<string>
  /** The commands that start it, outermost first. */
  readonly via: ReadonlyArray<string>
}

export interface ShellFile {
  readonly access: "Read" | "Write"
  /** As written, unquoted; NUL for what is not known. */
  readonly path: string
}

export interface ShellAnalysis {
  /** The line as written. */
  readonly line: string
  readonly parts: ReadonlyArray<ShellPart>
  readonly files: ReadonlyArray<ShellFile>
  /** Why part of the line could not be understood, each said once. */
  readonly problems: ReadonlyArray<string>
  /** Every `cd` target in order, relative to the one before: relative files may lie in any of them. */
  readonly directories: ReadonlyArray<string>
}

/** `variables`: names that may be set before a command, beyond those that are known to be harmless. */
export type ShellAnalyser = (line: string, variables?: ReadonlySet<string>) => ShellAnalysis
