// One configuration for every workspace: tests resolve workspace packages to their sources, so they need no build, and
// leave temp/tests.json for scripts/test-report.mjs.
const conditions = ["@toolwright/source", "module", "node", "development|production"]

export default {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    pool: "forks",
    // Machines are shared and slow at times: a test that hangs is red all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    allowOnly: false,
    reporters: ["default", ["json", { outputFile: "temp/tests.json" }]]
  }
}
