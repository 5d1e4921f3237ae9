export * from './messages.ts';
export * from './openQueues.ts';
