// The rules that the system promises, by the ids that tests cite: [T4] in a title or a comment.
// `holds` needs a test that cites it; `expected-to-fail` names the package that will close it and, where a test already
// shows the gap, that test (written with it.fails, which goes red when it starts to pass).
// scripts/check-requirements.mjs holds this list to the tests.

export interface Invariant {
  readonly id: string
  readonly statement: string
  readonly status: "holds" | "expected-to-fail"
  readonly closedBy?: string
  readonly test?: { readonly file: string; readonly title: string }
}

export const invariants: ReadonlyArray<Invariant> = [
  {
    id: "T1",
    statement:
      "A tool is written down once: its argument schema is what the model sees and what arguments are checked against.",
    status: "holds"
  },
  {
    id: "T2",
    statement:
      "A tool may return a value, a promise or an Effect; a thrown ToolError keeps its kind and anything else thrown is an Execution error.",
    status: "holds"
  },
  {
    id: "T3",
    statement:
      "An argument object admits only the fields it names unless its schema opens it, and one frozen schema is shown, compiled and hashed.",
    status: "holds"
  },
  {
    id: "T4",
    statement:
      "Arguments pass one strict parser before any gate: nothing is repaired, doubtful text is refused with a pointer, and the normalised, frozen value is the one that is gated, digested and run.",
    status: "holds"
  },
  {
    id: "T5",
    statement:
      "A refusal of arguments tells the model what to send instead; repeating the same bad call earns the whole schema, then the end of the run.",
    status: "holds"
  },
  {
    id: "T6",
    statement: "Run, thread and operation ids reach a tool beside its arguments and never among them.",
    status: "holds"
  },
  {
    id: "T7",
    statement:
      "A definition that cannot work is refused when it is made; a foreign one is guarded, and a bad tool costs only itself.",
    status: "holds"
  },
  {
    id: "T8",
    statement:
      "A definition is also a Standard Schema and a Standard JSON Schema, so other libraries take it as it is.",
    status: "holds"
  },
  {
    id: "T9",
    statement:
      "Structured output travels beside its text, and an effect whose output cannot be read is reported as completed, never as failed and never again.",
    status: "holds"
  },
  {
    id: "T10",
    statement:
      "Output becomes text once, for every kind of value and without a throw; what is too long is cut, noted and spilled once.",
    status: "holds"
  },
  {
    id: "T11",
    statement:
      "Erasing is the only way from a typed tool to an executable one, and no tool writes a store: state is staged on its result.",
    status: "holds"
  },
  {
    id: "T12",
    statement: "An id that was registered twice can never be called again, and inherited object names are not tools.",
    status: "holds"
  },
  {
    id: "T13",
    statement: "A tool that asks for a sandbox is refused where there is none and is not run in place.",
    status: "holds"
  },
  {
    id: "T14",
    statement:
      "A descriptor's identity is the full hash over everything that decides what a call means, and is computed here, never believed.",
    status: "holds"
  },
  {
    id: "T15",
    statement: "A tool describes itself with the same frozen object each time, through every wrapper.",
    status: "holds"
  },
  {
    id: "T16",
    statement:
      "A tool executed by the client is gated like any other and then waits for a result from outside, which is checked and labelled as foreign.",
    status: "holds"
  },
  {
    id: "E1",
    statement:
      "Whatever goes wrong inside a tool becomes one error result for the model, in model order, and the run goes on.",
    status: "holds"
  },
  {
    id: "E2",
    statement:
      "Failures of the store and of ownership stop the run call as typed errors and are never shown as results of tools.",
    status: "holds"
  },
  {
    id: "E3",
    statement: "A denied call is a decision with a reason; advice to operators goes to logs and not to the model.",
    status: "holds"
  },
  {
    id: "E4",
    statement: "The phase in which a call ends follows from what is known: not started, returned, or sent and lost.",
    status: "holds"
  },
  {
    id: "C1",
    statement: "Claims of two calls conflict by fixed rules, and combining claims can only narrow what runs together.",
    status: "holds"
  },
  {
    id: "C2",
    statement:
      "A call starts when each conflicting predecessor has ended, within the width, and results are used in model order.",
    status: "holds"
  },
  {
    id: "Z1",
    statement:
      "A parameter may name a domain of options, which is resolved live from the values already chosen beside it.",
    status: "holds"
  },
  {
    id: "Z2",
    statement: "Trigger phrases match whole words, literally and without case; a match is a hint and never a call.",
    status: "holds"
  },
  {
    id: "Z3",
    statement: "Every tool has a role, an alias and a provenance, and spans, events and audit records carry them.",
    status: "holds"
  },
  {
    id: "Z4",
    statement: "The runtime lists its tools with schemas, output schemas, domains and provenance.",
    status: "holds"
  },
  {
    id: "R1",
    statement:
      "While a tool runs it can read who it runs for and as which attempt; elsewhere there is nothing to read.",
    status: "holds"
  },
  {
    id: "R2",
    statement:
      "An operation id stays the same through retry, approval, edit and crash, owes nothing to the provider, and is entered with one digest of arguments.",
    status: "holds"
  },
  {
    id: "R3",
    statement:
      "A ledger id is a hash for outside ledgers; an unfinished row of a dead attempt is in doubt and is not read as undone.",
    status: "holds"
  },
  {
    id: "R4",
    statement: "A recovery policy never claims more than its tool can do, and allows at least one attempt.",
    status: "holds"
  },
  {
    id: "R5",
    statement: "A tool that can say what became of an operation is asked before anything is repeated or given up.",
    status: "holds"
  },
  {
    id: "R6",
    statement: "Phases of a call change only through one pure and total function.",
    status: "holds"
  },
  {
    id: "R7",
    statement:
      "A step is written in as few commits as the merging rules allow, an outcome is durable before it matters, and the model never sees part of a batch.",
    status: "holds"
  },
  {
    id: "R8",
    statement:
      "An open batch is recovered before the next inference, and what may have happened is not repeated unless its policy allows it.",
    status: "holds"
  },
  {
    id: "R9",
    statement: "Attempts are counted through waits; ending a run leaves calls that never started as not run.",
    status: "holds"
  },
  {
    id: "R10",
    statement:
      "One owner writes; a commit of an owner that lost its claim changes nothing, and that owner stops its tools.",
    status: "holds"
  },
  {
    id: "R11",
    statement: "Stored records carry a version, and one that cannot be read is an error with its place.",
    status: "holds"
  },
  {
    id: "R12",
    statement:
      "After an unknown outcome its conflicting successors are not run and its repetition needs a person; settling it adds a record and no second result.",
    status: "holds"
  },
  {
    id: "P1",
    statement: "Nothing runs without a gate, and a gate that fails blocks.",
    status: "holds"
  },
  {
    id: "P2",
    statement: "All gates are asked and the strictest answer counts; with nobody to ask, asking is blocking.",
    status: "holds"
  },
  {
    id: "P3",
    statement:
      "Each gate is asked once per call, in model order, about the frozen arguments, before the batch is committed.",
    status: "holds"
  },
  {
    id: "P4",
    statement: "A deny rule wins in every mode; otherwise the most specific rule decides, then the default.",
    status: "holds"
  },
  {
    id: "P5",
    statement: "Every part of a shell command must be allowed, and what cannot be understood is asked about.",
    status: "holds"
  },
  {
    id: "P6",
    statement: "A mode changes what is asked and never what is denied.",
    status: "holds"
  },
  {
    id: "P7",
    statement: "A policy file with anything unknown, doubled or malformed is refused whole, with line and column.",
    status: "holds"
  },
  {
    id: "P8",
    statement: "Each decision is an audit record in the commit, and can be explained again without side effects.",
    status: "holds"
  },
  {
    id: "H1",
    statement: "A wait is a committed ticket that pins the call, and needs no process and no secret.",
    status: "holds"
  },
  {
    id: "H2",
    statement: "A ticket is answered with a kind of answer that fits its wait, by an approver the host vouches for.",
    status: "holds"
  },
  {
    id: "H3",
    statement: "An answer is checked whole before it changes anything, and of many racing answers one wins.",
    status: "holds"
  },
  {
    id: "H4",
    statement:
      "An accepted answer is committed before the call runs, once, with the ticket's own arguments; an edit is a new proposal.",
    status: "holds"
  },
  {
    id: "H5",
    statement: "A deadline and an answer compete in one conditional write; an expired wait is a denial that says so.",
    status: "holds"
  },
  {
    id: "H6",
    statement:
      "Tickets of a batch are issued together and answered one by one in any order, and finished calls stay finished.",
    status: "holds"
  },
  {
    id: "H7",
    statement:
      "A remembered approval is shown before it is stored, is no wider than written, and never beats a denial.",
    status: "holds"
  },
  {
    id: "H8",
    statement: "What an approver reads is what runs: characters that hide are made visible.",
    status: "holds"
  },
  {
    id: "L1",
    statement:
      "One engine serves the Effect and the Promise interface; a run returns while people think, and cancelling it is a value.",
    status: "holds"
  },
  {
    id: "L2",
    statement: "A run ends for one of a closed set of reasons, and a spent budget stops it before the next inference.",
    status: "holds"
  },
  {
    id: "L3",
    statement: "Cancelling reaches the model and every tool within a bounded wait, and nothing of ours is left behind.",
    status: "holds"
  },
  {
    id: "L4",
    statement:
      "Facts come from what was committed and can be replayed from any number; deltas are marked with step and attempt.",
    status: "holds"
  },
  {
    id: "L5",
    statement: "Hooks act at fixed phases and may narrow and add, and never rewrite what was said.",
    status: "holds"
  },
  {
    id: "L6",
    statement: "A plugin that contributes outside its declared bound fails the build of the runtime.",
    status: "holds"
  },
  {
    id: "L7",
    statement:
      "A model is one streaming method with typed failures, and the scripted model fails on anything it does not expect.",
    status: "holds"
  },
  {
    id: "L8",
    statement: "Steering, pausing and closing take effect at defined points and are never stored as results.",
    status: "holds"
  },
  {
    id: "L9",
    statement: "A child run is named after its parent's operation, inherits what narrows, and holds no grants.",
    status: "holds"
  },
  {
    id: "D1",
    statement:
      "Staged state is applied once, at publication, in model order; two exclusive writes of a key end the run and apply neither.",
    status: "holds"
  },
  {
    id: "D2",
    statement:
      "An owner writes through one atomic commit; the same commit again gives the first receipt, and nothing builds on an unanswered one.",
    status: "holds"
  },
  {
    id: "D3",
    statement: "A store is what passes the conformance suite.",
    status: "holds"
  },
  {
    id: "D4",
    statement: "What was acknowledged is on the disk.",
    status: "holds"
  },
  {
    id: "N1",
    statement: "A snapshot is validated, frozen and fingerprinted when it is built.",
    status: "holds"
  },
  {
    id: "N2",
    statement:
      "A run keeps the snapshot of its first commit, and installed code that no longer matches a tool of it is not executed.",
    status: "holds"
  }
]
