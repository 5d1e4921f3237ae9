import type { StepDef } from './context.ts';

/** Every step, in the order of the straight line. */
export const steps: StepDef[] = [];
