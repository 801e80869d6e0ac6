import { MemoryEffectLedger, MemorySpill } from "@toolwright/runtime-contract/memory"
import { describe, it } from "vitest"
import { describeConformance, ledgerConformance, spillConformance } from "../src/index.js"

describeConformance(
  {
    name: "the memory ledger is an effect ledger",
    checks: ledgerConformance({
      open: ({ now }) => {
        let effects = 0
        return { ledger: new MemoryEffectLedger({ now }), effect: () => void effects++, effects: () => effects }
      }
    })
  },
  { describe, it }
)

describeConformance(
  { name: "the memory spill is a spill", checks: spillConformance({ open: () => ({ spill: new MemorySpill() }) }) },
  { describe, it }
)
