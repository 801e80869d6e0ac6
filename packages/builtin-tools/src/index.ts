/**
 * Erasing typed tools into executable ones. The tools that ship in the box have entries of their own, `./calculate` and
 * `./current-time`, so that whoever only erases loads neither TypeBox nor an arithmetic library.
 */
export { erase } from "./erase.js"
