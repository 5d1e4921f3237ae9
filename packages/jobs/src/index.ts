export * from './errors.ts';
export { expandJob, packagesOf, testcaseName, withVersions } from './expandJob.ts';
export { nearest, suggestion } from './nearest.ts';
export { parseConfig } from './parseConfig.ts';
export { parseHost } from './parseHost.ts';
export { type Programs, parseJob } from './parseJob.ts';
export { parsePercent, parseSeconds, parseSize } from './quantity.ts';
export * from './types.ts';
export { checkYaml, readYaml, type YamlFile } from './yamlFile.ts';
