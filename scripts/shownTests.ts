/** A test that a document names: its file, and its name as the source spells it. */
export interface ShownTest {
  file: string;
  name: string;
}

/** The tests that a text names as `` `path/x.test.ts` › “name” ``, in its order. */
export function shownTests(text: string): ShownTest[] {
  return [...text.matchAll(/`([^`\s]+\.test\.tsx?)` › “([^”]+)”/g)].map((match) => ({
    file: match[1]!,
    name: match[2]!,
  }));
}

/** Whether a test that ran is one that was named: `%s` and `${…}` of a table of cases stand for anything. */
export function isNamed(test: ShownTest, file: string, name: string): boolean {
  const literal = test.name.split(/%[sdij]|\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return test.file === file && new RegExp(`^${literal.join('.*')}$`, 's').test(name);
}
