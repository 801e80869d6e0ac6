import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { describe, it } from "vitest"
import { describeConformance, storeConformance } from "../src/index.js"

// The suite stands for [D1] [D2] [D3] [R2] [R6] [R9] [R10] [R11] [R12] [L4] [H1] [H3] [H4] [H5] [H6]
const checks = storeConformance({ open: ({ now }) => ({ store: new MemoryThreadStore({ now }) }) })

describeConformance({ name: "the memory store is a store", checks }, { describe, it })
