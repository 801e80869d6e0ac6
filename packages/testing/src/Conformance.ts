/**
 * What a conformance suite is: a list of named checks that any test runner can run.
 *
 * Guarantees: a check is a plain asynchronous function that throws when the promise in its title does not hold; checks
 * share nothing, so they may run alone and in any order.
 * Does not know a test runner: `describeConformance` takes yours as a parameter, `runChecks` needs none.
 */
export interface ConformanceCheck {
  /** A statement that can be false, with the rules it stands for in brackets. */
  readonly title: string
  readonly run: () => Promise<void>
}

/** The two functions that every test runner has. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (title: string, body: () => Promise<void>) => void
}

/** Makes one case of each check: `describeConformance({ name: "my store", checks }, { describe, it })`. */
export const describeConformance = (
  suite: { readonly name: string; readonly checks: ReadonlyArray<ConformanceCheck> },
  runner: TestRunner
): void => {
  runner.describe(suite.name, () => {
    for (const { run, title } of suite.checks) runner.it(title, run)
  })
}

/** Runs every check and throws one error that names those that do not hold. For scripts without a test runner. */
export const runChecks = async (checks: ReadonlyArray<ConformanceCheck>): Promise<number> => {
  const failures: Array<Error> = []
  for (const { run, title } of checks) {
    try {
      await run()
    } catch (cause) {
      failures.push(new Error(`${title}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }))
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map((failure) => failure.message).join("\n"))
  return checks.length
}
