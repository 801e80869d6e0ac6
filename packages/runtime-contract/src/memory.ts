export { MemoryEffectLedger } from "./internal/memoryEffectLedger.js"
export { MemorySpill } from "./internal/memorySpill.js"
export { MemoryThreadStore } from "./internal/memoryThreadStore.js"
