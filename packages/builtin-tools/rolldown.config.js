// The hand's registry as one file without imports, from source: what a hand loads is what decides its start.
export default {
  input: "src/hand.ts",
  platform: "node",
  resolve: { conditionNames: ["@toolwright/source", "import", "module", "node", "default"] },
  output: {
    file: process.env.TOOLWRIGHT_BUNDLE ?? "dist/hand.bundle.js",
    format: "esm",
    codeSplitting: false,
    minify: true
  }
}
