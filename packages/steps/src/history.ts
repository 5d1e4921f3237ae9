import { type CommitFacts, readCommits, readRange } from '@kdelta/git';
import { type Db, recordCommits } from '@kdelta/store';

/** More commits than this between two heads are not recorded one by one: nobody bisects a year of history by accident. */
const atMost = 50_000;

/** Records the commits of `base..head` and base itself: authors, parents, subjects. `base` null: only head. */
export async function recordRange(db: Db, mirror: string, base: string | null, head: string): Promise<number> {
  const range = base === null ? [{ sha: head }] : await readRange(mirror, base, head);
  const shas = range.slice(-atMost).map((one) => one.sha);
  const commits = await readCommits(mirror, base === null ? shas : [base, ...shas]);
  await recordCommits(db, commits.map(toRow));
  return commits.length;
}

function toRow(facts: CommitFacts) {
  // Postgres takes no NUL in a text; commits are hostile text.
  const text = (words: string) => words.replaceAll('\0', '\uFFFD');
  return {
    sha: facts.sha,
    parents: facts.parents,
    authorName: text(facts.author.name),
    authorEmail: text(facts.author.email),
    committerName: text(facts.committer.name),
    committerEmail: text(facts.committer.email),
    authoredAt: facts.author.date,
    committedAt: facts.committer.date,
    subject: text(facts.subject),
    body: text(facts.body),
  };
}
