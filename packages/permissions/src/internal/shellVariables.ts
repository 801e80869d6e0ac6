/**
 * Which variables a command line may set without changing what its commands do.
 *
 * Guarantees: a list of names that are known to be harmless, not of those that are known to be dangerous, because any
 * program may read code from any variable.
 */

const harmless: ReadonlySet<string> = new Set([
  "CI",
  "CLICOLOR",
  "CLICOLOR_FORCE",
  "COLORTERM",
  "COLUMNS",
  "DEBUG",
  "FORCE_COLOR",
  "LANG",
  "LANGUAGE",
  "LINES",
  "LOG_LEVEL",
  "NODE_ENV",
  "NO_COLOR",
  "NO_UPDATE_NOTIFIER",
  "RUST_BACKTRACE",
  "RUST_LOG",
  "SOURCE_DATE_EPOCH",
  "TERM",
  "TZ",
  "VERBOSE"
])

/** May it stand before a command, and so reach that command? */
export const mayPass = (name: string, more: ReadonlySet<string>): boolean =>
  harmless.has(name) || more.has(name) || /^LC_[A-Z]+$/.test(name)

/**
 * May it be set in the shell alone? Short lower-case names are nobody's switches, but for those that programs are known
 * to read from the environment, where they may be exported already.
 */
export const maySet = (name: string, more: ReadonlySet<string>): boolean =>
  mayPass(name, more) ||
  /^[A-Z]$/.test(name) ||
  (/^[a-z][a-z0-9_]{0,31}$/.test(name) && !/^(?:npm_|pnpm_|yarn_|pip_|git_|ld_|dyld_)|proxy|prefix|path/.test(name))
