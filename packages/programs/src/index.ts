export { type HostFileOfProgram, hostFiles, programVersion } from './build.ts';
export { ProgramError, type ProgramErrorCode } from './errors.ts';
export { type Lines, linesOf, linesOfFile, maxLineLength } from './lines.ts';
export { findProgram, loadPrograms, type Programs, programRoots } from './load.ts';
export { readMeta } from './meta.ts';
export { metricInfo } from './metricInfo.ts';
export { type ParsedOutput, parseOutput } from './parseOutput.ts';
export { loadParser } from './parser.ts';
export { OutputTooLargeError, type Parse, type ParseContext, type Samples } from './parsing.ts';
