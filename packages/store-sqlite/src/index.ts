/** Threads, effect ledgers and full outputs on one machine's disk. */
export * as FileSpill from "./FileSpill.js"
export * as SchemaLedger from "./SchemaLedger.js"
export * as SqliteDriver from "./SqliteDriver.js"
export * as SqliteEffectLedger from "./SqliteEffectLedger.js"
export * as SqliteThreadStore from "./SqliteThreadStore.js"
