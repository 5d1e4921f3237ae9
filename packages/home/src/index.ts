export * from './errors.ts';
export * from './folders.ts';
export * from './lock.ts';
export * from './processes.ts';
export * from './services.ts';
