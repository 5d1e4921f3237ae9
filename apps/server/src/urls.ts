/** Every address of the dashboard, the downloads and the API; mails and pages take them from here. */
export const urls = {
  overview: () => '/',
  pairs: (filter: Query = {}) => `/pairs${query(filter)}`,
  pair: (id: number, filter: Query = {}) => `/pairs/${id}${query(filter)}`,
  pairText: (id: number) => `/pairs/${id}.txt`,
  pairMarkdown: (id: number) => `/pairs/${id}.md`,
  pairReproduce: (id: number) => `/pairs/${id}/reproduce`,
  compare: (base: number, head: number, testcase: number) => `/compare${query({ base, head, testcase })}`,
  mapanon: (boots: number[], instance = 1) =>
    `/mapanon${query({ boots: boots.join(','), instance: instance > 1 && instance })}`,
  bisects: (filter: Query = {}) => `/bisects${query(filter)}`,
  bisect: (id: number) => `/bisects/${id}`,
  newBisect: (filter: Query = {}) => `/bisects/new${query(filter)}`,
  boot: (id: number, filter: Query = {}) => `/boots/${id}${query(filter)}`,
  kernel: (id: number, filter: Query = {}) => `/kernels/${id}${query(filter)}`,
  commit: (sha: string) => `/commits/${sha}`,
  history: (filter: Query = {}) => `/history${query(filter)}`,
  reports: (filter: Query = {}) => `/reports${query(filter)}`,
  report: (id: number) => `/r/${id}`,
  hosts: () => '/hosts',
  host: (name: string) => `/hosts/${encodeURIComponent(name)}`,
  trees: () => '/trees',
  noise: (filter: Query = {}) => `/noise${query(filter)}`,
  api: () => '/api',
  signIn: (next = '') => `/sign-in${query({ next })}`,
  matrix: (tree: string, sha: string, testcase: string, ending: 'json' | 'csv' = 'json') =>
    `/matrix/${encodeURIComponent(tree)}/${sha}/${encodeURIComponent(testcase)}.${ending}`,
  pairMatrix: (id: number, side: 'base' | 'head', ending: 'json' | 'csv' = 'json') =>
    `/pairs/${id}/${side}.matrix.${ending}`,
  bootFile: (id: number, name: string) => `/files/boots/${id}/${encodeURIComponent(name)}`,
  kernelFile: (id: number, name: string) => `/files/kernels/${id}/${encodeURIComponent(name)}`,
  reportFile: (id: number, name: string) => `/files/reports/${id}/${encodeURIComponent(name)}`,
  v1: (path: string) => `/api/v1/${path}`,
};

export type Query = Record<string, string | number | boolean | null | undefined>;

/** `?a=1&b=2` of what is set, in the order given; empty when nothing is. */
export function query(filter: Query): string {
  const parts = Object.entries(filter)
    .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`);
  return parts.length ? `?${parts.join('&')}` : '';
}
