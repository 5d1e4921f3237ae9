import { bisectStep } from './bisect.ts';
import { bootStep } from './boot.ts';
import { build } from './build.ts';
import type { StepDef } from './context.ts';
import { judgeStep } from './judge.ts';
import { plan } from './plan.ts';
import { reportStep } from './report.ts';
import { sendStep } from './send.ts';

/** Every step, in the order of the straight line. */
export const steps: StepDef[] = [plan, build, bootStep, judgeStep, bisectStep, reportStep, sendStep];

/** A step by its name. */
export function stepNamed(name: StepDef['name']): StepDef {
  const step = steps.find((one) => one.name === name);
  if (!step) throw new Error(`no step ${name}`);
  return step;
}
