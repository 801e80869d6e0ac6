/**
 * For bundled programs: hands the validator over that the contract otherwise loads itself at the first definition.
 *
 * Guarantees: with this, nothing is looked up on disk at run time. Call it before the first tool is defined.
 * Does not change what schemas mean.
 */
export { type AjvModules, provideAjv } from "./internal/ajv.js"
