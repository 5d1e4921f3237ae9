/** What to build or fetch. */
export type KernelSpec =
  | { kind: 'kbuild'; tree: string; repo: string; sha: string; kconfig: { base: string; fragments: string[] } }
  | { kind: 'deb'; package: string; version?: string };

/** Files of one built kernel, in the artifact cache; they are never changed afterwards. */
export interface KernelArtifact {
  /** 12 hex digits of commit + kconfig + compiler, or of package + version; `-kd<key>` ends the release of a kbuild. */
  buildKey: string;
  dir: string;
  /** bzImage; its sha256 is `imageSha256`. */
  image: string;
  imageSha256: string;
  /** Folder holding `lib/modules/<release>`, where there are modules. */
  modules?: string;
  config: string;
  /** `uname -r`. */
  release: string;
  buildId: string;
  /** Hash of the loadable sections with release string and build id blanked: equal = the same kernel. */
  loadHash: string;
  compiler: string;
  kconfigHash: string;
  /** Source files (relative to the tree) that took part in the build, from the .cmd files; absent for packages. */
  sources?: string;
  log: string;
  buildMs: number;
}

export type BuildOutcome =
  | { kind: 'built'; artifact: KernelArtifact; cached: boolean }
  | { kind: 'failed'; failureClass: 'build' | 'infra'; message: string; excerpt: string; log: string | null };

/** What a builder needs from its caller. */
export interface BuildContext {
  /** `cacheDir(env)` of packages/home. */
  cacheDir: string;
  /** The checkout's `kconfig/`, where bases and fragments are found by name. */
  kconfigDir: string;
  /** Told what is being done, and how far (0–1, where known). */
  progress?: (event: BuildProgress) => void;
  signal?: AbortSignal;
  /** Parallel jobs of make; default the number of CPUs. */
  jobs?: number;
  limits?: Partial<BuildLimits>;
}

export interface BuildProgress {
  phase: 'wait' | 'resolve' | 'download' | 'unpack' | 'checkout' | 'configure' | 'compile' | 'collect';
  message: string;
  fraction?: number;
}

export interface BuildLimits {
  /** Wall time of one command in the sandbox. */
  timeMs: number;
  /** Of all processes together, and of each one's address space. */
  memoryBytes: number;
  processes: number;
  /** What the build may print. */
  outputBytes: number;
  /** What the build folder may take. */
  diskBytes: number;
}
