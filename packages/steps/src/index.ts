export * from './askBisect.ts';
export * from './context.ts';
export * from './decideReport.ts';
export * from './reconcile.ts';
export * from './runStep.ts';
export * from './steps.ts';
export * from './withClaim.ts';
