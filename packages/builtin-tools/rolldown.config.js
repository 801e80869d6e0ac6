// The hand's registry as one file without imports, from source: what a hand loads is what decides its start. A script and
// no module, because code that was made of a script can be kept for the next hand.
const types = `import type { RawTool } from "@toolwright/runtime-contract" with { "resolution-mode": "import" }
import type { HandPlace } from "./HandTools.js" with { "resolution-mode": "import" }
/** The tools of a hand in the place that it is given. */
declare const registry: (place: HandPlace) => Promise<ReadonlyArray<RawTool.RawTool>>
export = registry
`

/** @type {import("rolldown").RolldownOptions} */
export default {
  input: "src/hand.ts",
  platform: "node",
  resolve: { conditionNames: ["@toolwright/source", "import", "module", "node", "default"] },
  plugins: [
    {
      name: "types",
      generateBundle() {
        this.emitFile({ type: "asset", fileName: "hand.bundle.d.cts", source: types })
      }
    }
  ],
  output: {
    file: process.env.TOOLWRIGHT_BUNDLE ?? "dist/hand.bundle.cjs",
    format: "cjs",
    exports: "default",
    codeSplitting: false,
    minify: true
  }
}
