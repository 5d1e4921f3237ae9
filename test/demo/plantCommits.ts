import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePerson, runGit } from '@kdelta/git';
import type { BaseTree } from './baseTree.ts';
import { BROKEN, COMMENT_ONLY, type Edit, NEIGHBOURS, PANICKING, slowFaults } from './edits.ts';

export interface PlantOptions {
  /** Any number or text: draws everything that isn't fixed below. */
  seed: string;
  /** How many commits, merges included; default 12. */
  count?: number;
  /** Plant the commit that slows anonymous faults; default true. */
  culprit?: boolean;
  /** Percent by which pft's fault rate should fall; default drawn from 6 to 36. */
  slowdownPct?: number;
  /** Plant a commit that doesn't compile (the next one mends it); default true. */
  broken?: boolean;
  /** Plant a commit that panics at boot (the next one mends it); default false. */
  panicking?: boolean;
  /** Plant a commit that changes only comments; default true. */
  commentOnly?: boolean;
  /** Put the culprit on a topic branch of three commits that is merged; default false. */
  topicBranch?: boolean;
}

export interface PlantedCommit {
  sha: string;
  parents: string[];
  kind: 'neighbour' | 'comment-only' | 'broken' | 'panicking' | 'mended' | 'culprit' | 'merge';
  subject: string;
  author: string;
  authorEmail: string;
  file: string | null;
}

/** The answer: for whoever asked, never for the bot. */
export interface Planted {
  /** In the order in which they can be pushed: parents first. */
  commits: PlantedCommit[];
  head: string;
  culprit: PlantedCommit | null;
  /** What was aimed at; what the kernel does is for measuring. */
  slowdownPct: number | null;
}

/**
 * Makes commits on top of the base in `repo` (a repository with the base's objects, see cloneBase), without moving any branch. Equal options
 * on an equal base give equal commits. Push with pushCommit. Throws when the source offers too few places.
 */
export async function plantCommits(repo: string, base: BaseTree, options: PlantOptions): Promise<Planted> {
  const random = seededRandom(options.seed);
  const count = options.count ?? 12;
  const topic = options.topicBranch ?? false;
  const slowdownPct = options.culprit === false ? null : (options.slowdownPct ?? 6 + Math.floor(random() * 31));
  const culprit = slowdownPct === null ? null : slowFaults(slowdownPct, Math.floor(random() * 3));
  const units = drawUnits(random, count - (topic ? 1 : 0), options, culprit);

  const tree = new TreeWriter(repo, base.sha, random);
  let tip = tree.root;
  for (const unit of units) {
    if (topic && unit.some((entry) => entry.kind === 'culprit')) {
      const branch = await plantUnit(tree, tip, unit.slice(0, 3));
      const main = await plantUnit(tree, tip, unit.slice(3));
      tip = tree.merge(main, branch, tip);
    } else {
      tip = await plantUnit(tree, tip, unit);
    }
  }
  const commits = await tree.finish();
  const head = commits[commits.length - 1]!.sha;
  return { commits, head, culprit: commits.find((commit) => commit.kind === 'culprit') ?? null, slowdownPct };
}

async function plantUnit(tree: TreeWriter, tip: Tip, unit: Planned[]): Promise<Tip> {
  for (const { edit, kind } of unit) tip = await tree.commit(tip, edit, kind);
  return tip;
}

/** One commit per edit, each right on the base, without moving any branch. */
export async function plantBeside(repo: string, base: BaseTree, edits: readonly Edit[]): Promise<PlantedCommit[]> {
  const tree = new TreeWriter(repo, base.sha, seededRandom('beside'));
  for (const edit of edits) await tree.commit(tree.root, edit, 'neighbour');
  return await tree.finish();
}

/** Sets `branch` of the repository at `to` to a planted commit. */
export async function pushCommit(repo: string, sha: string, to: string, branch = 'master'): Promise<void> {
  await runGit(['push', '--quiet', '--force', '--', to, `${sha}:refs/heads/${branch}`], {
    gitDir: repo,
    allowFile: true,
  });
}

interface Planned {
  edit: Edit;
  kind: PlantedCommit['kind'];
}

/** Units stay together: a broken commit is followed by the one that mends it. The first and the last commit are neighbours. */
function drawUnits(random: () => number, count: number, options: PlantOptions, culprit: Edit | null): Planned[][] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const special: Planned[][] = [];
  const neighbours = shuffle([...NEIGHBOURS], random).map((edit): Planned => ({ edit, kind: 'neighbour' }));
  const inOrder = (pair: [Edit, Edit], kind: 'broken' | 'panicking'): Planned[] => [
    { edit: pair[0], kind },
    { edit: pair[1], kind: 'mended' },
  ];
  if (options.broken ?? true) special.push(inOrder(pick(BROKEN), 'broken'));
  if (options.panicking ?? false) special.push(inOrder(pick(PANICKING), 'panicking'));
  if (options.commentOnly ?? true) special.push([{ edit: pick(COMMENT_ONLY), kind: 'comment-only' }]);
  if (culprit) {
    const own: Planned = { edit: culprit, kind: 'culprit' };
    special.push(options.topicBranch ? [neighbours.pop()!, own, ...neighbours.splice(-3)] : [own]);
  }
  const left = count - special.flat().length;
  if (left < 2) throw new Error(`${count} commits are too few for what was asked`);
  // Where the list of neighbours ends, their messages are numbered changes of one more file.
  const fill = Array.from(
    { length: left },
    (_, i): Planned => neighbours[i] ?? { edit: numberedEdit(i), kind: 'neighbour' },
  );
  const first = fill.shift()!;
  const last = fill.pop()!;
  return [[first], ...shuffle([...special, ...fill.map((entry) => [entry])], random), [last]];
}

function numberedEdit(number: number): Edit {
  return {
    file: 'kernel/ksysfs.c',
    author: 'Sysfs Developer <sysfs@example.org>',
    subject: `ksysfs: take step ${number} towards a table of attributes`,
    body: 'One step of a long series.',
    apply: (text) =>
      `${text}\n/* Keeps the order of the table. */\nint ksysfs_step_${number} __initdata = ${number};\n`,
  };
}

/** A commit before it has a sha: its number in the stream, and the files it changed so far. */
interface Tip {
  mark: number;
  files: Map<string, string>;
}

/**
 * Collects commits as one stream for git fast-import, which writes only the folders that change: reading and writing an index of
 * fifty thousand files for each commit takes a hundred times as long.
 */
class TreeWriter {
  private readonly stream: string[] = [];
  private readonly planned: (Omit<PlantedCommit, 'sha' | 'parents'> & { parents: number[] })[] = [];
  private second = 0;

  constructor(
    private readonly repo: string,
    private readonly base: string,
    private readonly random: () => number,
  ) {}

  /** Mark 0 is the base. */
  readonly root: Tip = { mark: 0, files: new Map() };

  async commit(parent: Tip, edit: Edit, kind: PlantedCommit['kind']): Promise<Tip> {
    const before =
      parent.files.get(edit.file) ??
      (await runGit(['cat-file', 'blob', `${this.base}:${edit.file}`], { gitDir: this.repo }));
    const after = edit.apply(before);
    if (after === null || after === before)
      throw new Error(`${edit.file} of this source has no place for "${edit.subject}"`);
    const message = `${edit.subject}\n\n${edit.body}\n\nSigned-off-by: ${edit.author}\n`;
    const { name, email } = parsePerson(edit.author);
    this.planned.push({
      kind,
      subject: edit.subject,
      author: name,
      authorEmail: email,
      file: edit.file,
      parents: [parent.mark],
    });
    const files = new Map(parent.files).set(edit.file, after);
    return { mark: this.write(edit.author, message, [parent.mark], [[edit.file, after]]), files };
  }

  /** The first parent's tree with what the second changed: the two sides never change the same file. */
  merge(first: Tip, second: Tip, fork: Tip): Tip {
    const by = 'Memory Maintainer <memory.maintainer@example.org>';
    const subject = "Merge branch 'anon-faults' of the memory tree";
    const { name, email } = parsePerson(by);
    const parents = [first.mark, second.mark];
    this.planned.push({ kind: 'merge', subject, author: name, authorEmail: email, file: null, parents });
    const theirs = [...second.files].filter(([file, text]) => fork.files.get(file) !== text);
    const mark = this.write(by, `${subject}\n\nThree changes that were tested together.\n`, parents, theirs);
    return { mark, files: new Map([...first.files, ...theirs]) };
  }

  /** Writes all commits into the repository; no branch of it moves. */
  async finish(): Promise<PlantedCommit[]> {
    const dir = await mkdtemp(join(tmpdir(), 'kdelta-plant-'));
    try {
      const marks = join(dir, 'marks');
      const input = Buffer.from(`${this.stream.join('')}done\n`);
      await runGit(['fast-import', '--quiet', '--done', '--force', `--export-marks=${marks}`], {
        gitDir: this.repo,
        input,
      });
      const shas = new Map([['0', this.base]]);
      for (const line of (await readFile(marks, 'utf8')).split('\n').filter(Boolean)) {
        const [mark, sha] = line.split(' ');
        shas.set(mark!.slice(1), sha!);
      }
      const shaOf = (mark: number) => shas.get(String(mark))!;
      return this.planned.map((commit, i) => ({ ...commit, sha: shaOf(i + 1), parents: commit.parents.map(shaOf) }));
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  private write(by: string, message: string, parents: number[], files: [string, string][]): number {
    // From the day after the base's release, one to nine hours apart.
    this.second += 3600 + Math.floor(this.random() * 8 * 3600);
    const who = `${by} ${1731972498 + this.second} +0000`;
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const mark = this.planned.length;
    const from = parents.map(
      (parent, i) => `${i === 0 ? 'from' : 'merge'} ${parent === 0 ? this.base : `:${parent}`}\n`,
    );
    const changes = files.map(([file, text]) => `M 100644 inline ${file}\n${data(text)}`);
    this.stream.push(`commit refs/planted/stream\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n`);
    this.stream.push(data(message), ...from, ...changes, '\n');
    return mark;
  }
}

function shuffle<T>(list: T[], random: () => number): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

/** mulberry32, started from a hash (FNV-1a) of the seed's text. */
function seededRandom(seed: string): () => number {
  let state = 2166136261;
  for (const char of seed) state = Math.imul(state ^ char.codePointAt(0)!, 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
