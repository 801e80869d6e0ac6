/** Scripted ports, a clock in the test's hand, conformance suites and the explorer of the kernel. */
export { EffectRecorder } from "./EffectRecorder.js"
export type { RecordedAnswer, RecordedEffect, RecordedToolOptions } from "./EffectRecorder.js"
export { type ExpectedLine, expectTranscript, renderTranscript } from "./ExpectedTranscript.js"
export { type GateScript, type ScriptedDecision, ScriptedGate } from "./ScriptedGate.js"
export { ScriptedLlm } from "./ScriptedLlm.js"
export type {
  FailingTurn,
  RawTurn,
  Script,
  ScriptedCall,
  ScriptedTurn,
  SpokenTurn,
  StallingTurn
} from "./ScriptedLlm.js"
export type { RequestExpectation } from "./internal/requestExpectation.js"
export { TestClock } from "./TestClock.js"
export { type ConformanceCheck, describeConformance, runChecks, type TestRunner } from "./Conformance.js"
export { storeConformance, type StoreUnderTest, type StoreDamage, type StoreSubject } from "./StoreConformance.js"
export {
  type FaultPlan,
  FaultyStore,
  type LoggedCall,
  type ScriptedFault,
  seeded,
  type StoreCall,
  type StoreFault,
  type StoreOperation
} from "./FaultyStore.js"
export { forwarding } from "./ForwardingStore.js"
export { gateConformance, type GateSubject } from "./GateConformance.js"
export { llmConformance, type LlmSubject, type ProviderTurn } from "./LlmConformance.js"
export { ledgerConformance, type LedgerSubject, type OpenedLedger } from "./LedgerConformance.js"
export { type OpenedSpill, spillConformance, type SpillSubject } from "./SpillConformance.js"
export {
  type CallReport,
  type CrashActor,
  type CrashReport,
  type CrashScenario,
  type CrashWorld,
  crashProgram,
  type DeathAt,
  type DeathReport,
  killAtEveryPoint,
  type KillOptions,
  type ClosableStore,
  outsideOf,
  type OutsideWorld,
  type SeenEffect,
  type ThreadAftermath,
  titleOf,
  type WorldReport
} from "./CrashHarness.js"
export {
  type CallKind,
  type Exploration,
  explore,
  type ExploreOptions,
  type Kernel,
  productionKernel,
  type Scenario,
  type ScenarioCall,
  scenarios,
  type Violation
} from "./Explorer.js"
export {
  shrink,
  simulate,
  type SimulatedPorts,
  type SimulatedRuntime,
  type SimulationOptions,
  type SimulationReport
} from "./Simulation.js"
