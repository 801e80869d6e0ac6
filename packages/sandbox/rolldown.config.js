// The program in the box as one file without imports, and as a script: both start faster than modules do.
export default {
  input: "src/hand.ts",
  platform: "node",
  output: { file: "dist/hand.cjs", format: "cjs" }
}
