export interface ConfigDifference {
  option: string;
  /** `y`, `m`, a number, a string; `n` for "is not set"; null where the option isn't named. */
  before: string | null;
  after: string | null;
}

/** The options in which two kernel configs differ, by name; `# CONFIG_X is not set` is n. */
export function configDiff(before: string, after: string): ConfigDifference[] {
  const a = readConfig(before);
  const b = readConfig(after);
  return [...new Set([...a.keys(), ...b.keys()])]
    .sort()
    .map((option) => ({ option, before: a.get(option) ?? null, after: b.get(option) ?? null }))
    .filter((difference) => difference.before !== difference.after);
}

function readConfig(text: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const set = /^(CONFIG_\w+)=(.*)$/.exec(line);
    const unset = /^# (CONFIG_\w+) is not set$/.exec(line);
    if (set) options.set(set[1]!, set[2]!);
    else if (unset) options.set(unset[1]!, 'n');
  }
  return options;
}
