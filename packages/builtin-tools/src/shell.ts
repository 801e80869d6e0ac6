/** The shell tool. */
export { Bash, bash, ShellDirectory, type ShellPlace } from "./Bash.js"
