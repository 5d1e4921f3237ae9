export { collectRun, RunMarks, type RunPlace, readState, runPlace, startRun, stopRun, waitForRun } from './run.ts';
export { resumeBoot, runBoot } from './runBoot.ts';
export { quote, runScript, type ScriptPlan } from './script.ts';
export { MARKS, overheadSeconds } from './timeline.ts';
export * from './types.ts';
