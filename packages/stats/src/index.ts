export { benjaminiHochberg, FAMILY_RATE, type Family } from './families.ts';
export { JUDGE_VERSION, judge, lookShare } from './judge.ts';
export * from './ministat.ts';
export { HALF_LIFE_BOOTS, type Noise, noiseOf } from './noise.ts';
export { type MetricNoise, noiseModel } from './noiseModel.ts';
export { fixed, general } from './printf.ts';
export { tTwoSided } from './student.ts';
export { isReported } from './summary.ts';
export type { Delta, Flag, JudgeInput, Judgement, Side, Verdict } from './types.ts';
