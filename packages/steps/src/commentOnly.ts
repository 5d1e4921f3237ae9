import { tryGit } from '@kdelta/git';
import type { RangeCommit } from '@kdelta/store';

/** What is read at every turn of a bisect is kept small: this many commits, and files of one. */
const mostCommits = 500;
const mostFiles = 8;

/**
 * The commits of a range that change nothing but comments and blanks in C files. Such a commit is its parent as far as a
 * benchmark can tell (line numbers in warnings aside), so a search need not tell the two apart.
 */
export async function commentOnlyCommits(
  gitDir: string,
  range: RangeCommit[],
  files: ReadonlyMap<string, string[]>,
): Promise<Set<string>> {
  const wanted = range.filter(({ sha, parents }) => {
    const paths = files.get(sha) ?? [];
    return parents.length === 1 && paths.length > 0 && paths.length <= mostFiles && paths.every(isC);
  });
  if (wanted.length === 0 || wanted.length > mostCommits) return new Set();
  const names = wanted.flatMap(({ sha, parents }) =>
    (files.get(sha) ?? []).flatMap((path) => [`${parents[0]}:${path}`, `${sha}:${path}`]),
  );
  const contents = await readBlobs(gitDir, names);
  let at = 0;
  const found = new Set<string>();
  for (const { sha } of wanted) {
    let same = true;
    for (const _path of files.get(sha) ?? []) {
      const before = contents[at++];
      const after = contents[at++];
      same &&= before != null && after != null && codeOf(before) === codeOf(after);
    }
    if (same) found.add(sha);
  }
  return found;
}

/** C without comments, runs of blanks as one; what stands in quotes is kept as it is. */
export function codeOf(text: string): string {
  return text
    .replace(/"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|\/\*[\s\S]*?\*\/|\/\/(?:\\\n|[^\n])*|\s+/g, (token) =>
      token[0] === '"' || token[0] === "'" ? token : ' ',
    )
    .replace(/ +/g, ' ')
    .trim();
}

function isC(path: string): boolean {
  return /\.[ch]$/.test(path) && !/[\n\0]/.test(path);
}

/** Contents by `commit:path`, null where there is none. */
async function readBlobs(gitDir: string, names: string[]): Promise<(string | null)[]> {
  const result = await tryGit(['cat-file', '--batch'], { gitDir, input: `${names.join('\n')}\n` });
  if (result.code !== 0) return names.map(() => null);
  const contents: (string | null)[] = [];
  const out = result.stdout;
  // `<sha> blob <bytes>\n<content>\n`, or `<name> missing\n`.
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const size = / blob (\d+)$/.exec(out.subarray(at, end).toString('latin1'))?.[1];
    at = end + 1;
    if (size === undefined) {
      contents.push(null);
      continue;
    }
    contents.push(out.subarray(at, at + Number(size)).toString('utf8'));
    at += Number(size) + 1;
  }
  return contents;
}
