export * from './context.ts';
export * from './reconcile.ts';
export * from './runStep.ts';
export * from './steps.ts';
export * from './withClaim.ts';
