export { cleanText, consoleText, lastLines } from './console.ts';
export { createDriver } from './createDriver.ts';
export * from './errors.ts';
export type { HostContext } from './qemu.ts';
export { makeRootfs, type Rootfs } from './rootfs.ts';
export { openShell, type ShellTarget } from './shell.ts';
export * from './types.ts';
