// Failures that people met in comparable systems, each turned into a promise of ours, by the ids that tests cite: C017 in
// a title or a comment. `tested` names the test file that shows the promise; `expected-to-fail` names the package that
// will close it and, where a test already shows the gap, that test (written with it.fails).
// scripts/check-requirements.mjs holds this list to the tests.

export interface Case {
  readonly id: string
  readonly promise: string
  readonly status: "tested" | "expected-to-fail"
  readonly by?: string
  readonly closedBy?: string
  readonly test?: { readonly file: string; readonly title: string }
}

export const cases: ReadonlyArray<Case> = [
  {
    id: "C001",
    promise: "Blank arguments call a tool without parameters once, with an empty object.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C002",
    promise: "Absent or null arguments are an empty object, and a missing required property is named in the refusal.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C004",
    promise: "Quoted numbers and arrays are never guessed at; text that looks like a number stays text.",
    status: "tested",
    by: "packages/runtime-contract/test/one-normalisation.test.ts"
  },
  {
    id: "C005",
    promise:
      "Null for an optional property that does not admit it counts as absent; for a required one it is refused at its pointer.",
    status: "tested",
    by: "packages/runtime-contract/test/one-normalisation.test.ts"
  },
  {
    id: "C007",
    promise: "Nothing of a turn that was cut off is executed, even where its text happens to parse.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C008",
    promise: "Text after the first JSON value is refused, and braces inside strings are only characters.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C010",
    promise: "An object that names a key twice is refused before any permission is asked, however deep it lies.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C011",
    promise: "A key named __proto__ is data and changes no prototype.",
    status: "tested",
    by: "packages/runtime-contract/test/foreign-schemas-are-guarded.test.ts"
  },
  {
    id: "C013",
    promise: "An unpaired surrogate is kept out of history, so the next request can always be sent.",
    status: "tested",
    by: "packages/runtime-contract/test/arguments-enter-strictly.test.ts"
  },
  {
    id: "C014",
    promise: "NaN, infinities and other numbers outside JSON are refused at the parse boundary.",
    status: "tested",
    by: "packages/runtime-contract/test/in-process-values-are-read-as-json.test.ts"
  },
  {
    id: "C016",
    promise:
      "A foreign schema with definitions and references registers, validates, and projects without broken references.",
    status: "tested",
    by: "packages/model-ai-sdk/test/what-each-dialect-is-shown.test.ts"
  },
  {
    id: "C017",
    promise: "A recursive schema registers, validates at depth, and projects to a finite form.",
    status: "tested",
    by: "packages/model-ai-sdk/test/what-each-dialect-is-shown.test.ts"
  },
  {
    id: "C019",
    promise: "A union at the root costs only the tool that has it, before any request is sent.",
    status: "tested",
    by: "packages/model-ai-sdk/test/tools-are-shown-once-per-snapshot.test.ts"
  },
  {
    id: "C020",
    promise: "A served tool with a discriminated union shows all its fields, and a wrong variant gets one clear error.",
    status: "tested",
    by: "packages/runtime-contract/test/foreign-schemas-are-guarded.test.ts"
  },
  {
    id: "C022",
    promise:
      "A strict provider sees every field as required and nullable, and its null for an optional field reaches the tool as absent.",
    status: "tested",
    by: "packages/model-ai-sdk/test/tools-are-shown-once-per-snapshot.test.ts"
  },
  {
    id: "C023",
    promise: "Keywords that a provider lacks are removed by position, and properties with the same names are kept.",
    status: "tested",
    by: "packages/model-ai-sdk/test/tools-are-shown-once-per-snapshot.test.ts"
  },
  {
    id: "C025",
    promise: "Defaults inside a union fill only the branch that matches, and the caller's object is untouched.",
    status: "tested",
    by: "packages/runtime-contract/test/one-normalisation.test.ts"
  },
  {
    id: "C026",
    promise: "No schema from outside, by pattern or by size, can stop the event loop.",
    status: "tested",
    by: "packages/runtime-contract/test/foreign-schemas-are-guarded.test.ts"
  },
  {
    id: "C028",
    promise: "One output schema that cannot be compiled leaves the other tools of its server in place.",
    status: "tested",
    by: "packages/runtime-contract/test/foreign-schemas-are-guarded.test.ts"
  },
  {
    id: "C029",
    promise:
      "Draft-07 and 2020-12, unknown keywords and unknown formats are all usable in foreign schemas; known formats are enforced.",
    status: "tested",
    by: "packages/runtime-contract/test/foreign-schemas-are-guarded.test.ts"
  },
  {
    id: "C031",
    promise: "Names of one server that look alike after cleaning stay distinct, stable and callable.",
    status: "tested",
    by: "packages/model-ai-sdk/test/names-lead-back.test.ts"
  },
  {
    id: "C032",
    promise: "Names of different origins never merge, and rules for one origin do not reach another.",
    status: "tested",
    by: "packages/model-ai-sdk/test/names-lead-back.test.ts"
  },
  {
    id: "C034",
    promise: "Unusual names are mapped or refused with a diagnostic, and a bad one removes no other.",
    status: "tested",
    by: "packages/model-ai-sdk/test/names-lead-back.test.ts"
  },
  {
    id: "C035",
    promise: "A call to an inherited object name is a call to an unknown tool, everywhere names are looked up.",
    status: "tested",
    by: "packages/model-ai-sdk/test/names-lead-back.test.ts"
  },
  {
    id: "C037",
    promise:
      "Calling a tool that does not exist is told apart from a denial, opens no ticket, and gets one result per call.",
    status: "tested",
    by: "packages/runtime/test/calls-enter-through-one-door.test.ts"
  },
  {
    id: "C038",
    promise: "Nothing, null and nested undefined each give one result with text that can be sent.",
    status: "tested",
    by: "packages/builtin-tools/test/erase-is-the-only-adapter.test.ts"
  },
  {
    id: "C040",
    promise: "Cycles, throwing accessors and exotic objects end as completed results of bounded size.",
    status: "tested",
    by: "packages/builtin-tools/test/erase-is-the-only-adapter.test.ts"
  },
  {
    id: "C041",
    promise:
      "A result without content blocks still reaches the model as something, and no answer differs from an empty one.",
    status: "expected-to-fail",
    closedBy: "mcp"
  },
  {
    id: "C043",
    promise: "A history that lost a result in a crash is completed once, in place, without running the call again.",
    status: "tested",
    by: "apps/acceptance/test/crash/an-open-outcome-guards-its-repeat.test.ts"
  },
  {
    id: "C044",
    promise:
      "A call whose arguments were still arriving when the run was aborted never runs and leaves a sendable history.",
    status: "tested",
    by: "packages/runtime/test/calls-enter-through-one-door.test.ts"
  },
  {
    id: "C046",
    promise: "A huge result is capped for the model with a note, kept in full once, and can be fetched.",
    status: "tested",
    by: "packages/runtime/test/outputs-are-bounded.test.ts"
  },
  {
    id: "C047",
    promise:
      "Binary content is sent in its own form and never again as text, and unknown content becomes a placeholder.",
    status: "tested",
    by: "packages/runtime-contract/test/unreadable-output-is-completed.test.ts"
  },
  {
    id: "C049",
    promise: "An output schema judges successful structured output only, and failing it never repeats the call.",
    status: "tested",
    by: "packages/runtime-contract/test/unreadable-output-is-completed.test.ts"
  },
  {
    id: "C050",
    promise:
      "An approval needed deep inside delegated work surfaces as one ticket for the inner call, which then runs once.",
    status: "tested",
    by: "apps/acceptance/test/authority/children-and-secrets.test.ts"
  },
  {
    id: "C052",
    promise: "A decided call is not decided again: the stored decision holds without the policy that asked.",
    status: "tested",
    by: "apps/acceptance/test/crash/waits-outlive-processes.test.ts"
  },
  {
    id: "C053",
    promise: "An answer to another or an older ticket is refused and leaves the pending one pending.",
    status: "tested",
    by: "apps/acceptance/test/crash/waits-outlive-processes.test.ts"
  },
  {
    id: "C055",
    promise: "A finished call is not repeated because its neighbour waited.",
    status: "tested",
    by: "apps/acceptance/test/crash/waits-outlive-processes.test.ts"
  },
  {
    id: "C056",
    promise: "False, zero, empty text and null are answers.",
    status: "tested",
    by: "apps/acceptance/test/authority/nothing-said-is-said-too.test.ts"
  },
  {
    id: "C058",
    promise: "Approvals come from the store's tickets and never from messages; what runs is the stored call.",
    status: "tested",
    by: "apps/acceptance/test/authority/approvals-have-one-winner.test.ts"
  },
  {
    id: "C059",
    promise: "Remembering an approval covers the call that was shown and nothing wider.",
    status: "tested",
    by: "packages/permissions/test/grants-cover-what-was-shown.test.ts"
  },
  {
    id: "C061",
    promise: "Different calls never share a grant, whatever their arguments look like when written down.",
    status: "tested",
    by: "packages/permissions/test/grants-cover-what-was-shown.test.ts"
  },
  {
    id: "C062",
    promise: "Racing approvals have one winner and one execution, and an approved call is never stranded.",
    status: "tested",
    by: "apps/acceptance/test/crash/waits-outlive-processes.test.ts"
  },
  {
    id: "C064",
    promise: "No argument can claim authority.",
    status: "tested",
    by: "packages/permissions/test/closed-by-default.test.ts"
  },
  {
    id: "C065",
    promise: "After an approval the call runs and is committed before the model is asked again.",
    status: "tested",
    by: "apps/acceptance/test/crash/waits-outlive-processes.test.ts"
  },
  {
    id: "C067",
    promise: "Substitutions inside an allowed command are commands of their own.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C068",
    promise: "Assignments before a command neither hide it nor pass unseen when they change what runs.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C070",
    promise: "Denials look through every wrapper that allowances look through.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C071",
    promise: "A program named by path is not the program of that name.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C073",
    promise: "A redirection is a write and is judged as one.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C074",
    promise: "A command from which nothing could be extracted is asked about, and an empty one is invalid.",
    status: "tested",
    by: "packages/builtin-tools/test/commands-end-with-all-they-started.test.ts"
  },
  {
    id: "C076",
    promise: "Globs have one documented meaning for paths and one for commands, the same for allow and deny.",
    status: "tested",
    by: "packages/permissions/test/commands-are-judged-part-by-part.test.ts"
  },
  {
    id: "C077",
    promise: "Deny beats ask and ask beats allow from any source, and a prefix ends at a word.",
    status: "tested",
    by: "packages/permissions/test/closed-by-default.test.ts"
  },
  {
    id: "C079",
    promise: "Rules and requests are resolved alike, so a root that is a symlink still matches.",
    status: "tested",
    by: "packages/builtin-tools/test/nothing-leads-out-of-the-workspace.test.ts"
  },
  {
    id: "C080",
    promise: "Spelling variants of a denied path are denied where the volume treats them as one file.",
    status: "tested",
    by: "packages/permissions/test/path-rules.test.ts"
  },
  {
    id: "C082",
    promise: "A host rule is matched on the parsed and normalised URL that is then fetched.",
    status: "tested",
    by: "packages/builtin-tools/test/the-web-is-fetched-only-where-it-was-checked.test.ts"
  },
  {
    id: "C083",
    promise: "Every redirect and every resolved address is judged anew before it is contacted.",
    status: "tested",
    by: "packages/builtin-tools/test/the-web-is-fetched-only-where-it-was-checked.test.ts"
  },
  {
    id: "C085",
    promise: "A damaged or ambiguous policy is refused with its line and never loads as a weaker one.",
    status: "tested",
    by: "packages/permissions/test/policy-files.test.ts"
  },
  {
    id: "C086",
    promise: "A denial holds for every kind of tool and for everything a child run does.",
    status: "tested",
    by: "packages/permissions/test/closed-by-default.test.ts"
  },
  {
    id: "C088",
    promise: "A process killed around an effect never repeats it blindly, and says when it cannot know.",
    status: "tested",
    by: "apps/acceptance/test/crash/killed-at-every-point.test.ts"
  },
  {
    id: "C089",
    promise: "Each result of a batch is durable as it arrives, so a crash repeats none of the finished ones.",
    status: "tested",
    by: "apps/acceptance/test/crash/an-open-outcome-guards-its-repeat.test.ts"
  },
  {
    id: "C091",
    promise: "A value is taken when the tool returns it, and is the same before and after a restart, or is refused.",
    status: "tested",
    by: "apps/acceptance/test/crash/results-are-durable.test.ts"
  },
  {
    id: "C092",
    promise: "A torn write loses at most what was never acknowledged, and later appends are readable.",
    status: "tested",
    by: "apps/acceptance/test/crash/torn-records-are-dropped-whole.test.ts"
  },
  {
    id: "C094",
    promise:
      "A result over the limit fails once with its size named, or is spilled, and the tool is not run again for it.",
    status: "tested",
    by: "apps/acceptance/test/crash/results-are-durable.test.ts"
  },
  {
    id: "C095",
    promise: "Two owners never both commit, whatever their clocks say.",
    status: "tested",
    by: "apps/acceptance/test/crash/a-paused-owner-changes-nothing.test.ts"
  },
  {
    id: "C097",
    promise: "A call that may have reached its server is not sent again unless the tool says that it may be.",
    status: "tested",
    by: "apps/acceptance/test/runtime/remote-calls-are-sent-once.test.ts"
  },
  {
    id: "C098",
    promise:
      "Cancellation is a state of the run and no result, and a missing result is written before the model is asked.",
    status: "tested",
    by: "apps/acceptance/test/crash/shutdown-is-not-a-result.test.ts"
  },
  {
    id: "C100",
    promise: "A tool deaf to cancellation is given up after a grace period, and its late result is evidence only.",
    status: "tested",
    by: "packages/runtime/test/late-words-are-evidence.test.ts"
  },
  {
    id: "C101",
    promise: "Ending a command ends its whole process tree and leaves nothing behind.",
    status: "tested",
    by: "packages/builtin-tools/test/commands-end-with-all-they-started.test.ts"
  },
  {
    id: "C103",
    promise: "Long runs leave no listener on a shared signal.",
    status: "tested",
    by: "packages/builtin-tools/test/commands-end-with-all-they-started.test.ts"
  },
  {
    id: "C104",
    promise: "A cancel from another process reaches the owner within a stated bound and is never overwritten.",
    status: "tested",
    by: "apps/acceptance/test/crash/a-cancel-from-elsewhere-arrives.test.ts"
  },
  {
    id: "C106",
    promise: "No call starts before its arguments are complete.",
    status: "tested",
    by: "packages/model-ai-sdk/test/no-turn-is-a-silent-success.test.ts"
  },
  {
    id: "C107",
    promise: "Awkwardly streamed calls are told apart or refused and never glued together.",
    status: "tested",
    by: "packages/model-ai-sdk/test/no-turn-is-a-silent-success.test.ts"
  },
  {
    id: "C109",
    promise: "Characters cut by a chunk boundary arrive whole.",
    status: "tested",
    by: "packages/model-ai-sdk/test/whole-turns-over-the-wire.test.ts"
  },
  {
    id: "C110",
    promise: "A stream that is resumed twice keeps its place and repeats nothing.",
    status: "expected-to-fail",
    closedBy: "server"
  },
  {
    id: "C112",
    promise: "A slow or vanished reader costs bounded memory and nobody else's events.",
    status: "expected-to-fail",
    closedBy: "server"
  },
  {
    id: "C113",
    promise: "A client that leaves ends an attached run and does not end a detached one.",
    status: "expected-to-fail",
    closedBy: "server"
  },
  {
    id: "C115",
    promise: "Parallel edits of a file all survive or are refused as conflicts, and the file is whole at every moment.",
    status: "tested",
    by: "packages/builtin-tools/test/parallel-edits-lose-nothing.test.ts"
  },
  {
    id: "C116",
    promise: "A write based on an outdated read is refused and names the file.",
    status: "tested",
    by: "packages/builtin-tools/test/edits-are-exact-and-whole.test.ts"
  },
  {
    id: "C118",
    promise: "Equal request ids of different clients never cross.",
    status: "expected-to-fail",
    closedBy: "mcp"
  },
  {
    id: "C119",
    promise: "Requests in flight with one id are refused or told apart, and our own ids are unique.",
    status: "expected-to-fail",
    closedBy: "mcp"
  }
]
