export * from './errors.ts';
export {
  expandJob,
  needsScratchDisk,
  packagesOf,
  requiredPackagesOf,
  scratchSerial,
  testcaseName,
  withVersions,
} from './expandJob.ts';
export { nearest, suggestion } from './nearest.ts';
export { parseConfig } from './parseConfig.ts';
export { type ConfiguredJob, isConfiguration, type JobSource, parseConfiguration } from './parseConfiguration.ts';
export { parseHost } from './parseHost.ts';
export { type Programs, parseJob, plainJob } from './parseJob.ts';
export { parsePercent, parseSeconds, parseSize } from './quantity.ts';
export * from './types.ts';
export { checkYaml, fail, readYaml, type YamlFile } from './yamlFile.ts';
