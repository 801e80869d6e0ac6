/** The shell grammar, in an entry of its own: loaded at the first command, or by whoever wants to look at one. */
export * as ShellCommand from "./ShellCommand.js"
