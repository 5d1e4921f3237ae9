import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** Labels of GNU time's `-v` whose metric isn't the label in lower case. */
const names: Record<string, string> = {
  'User time (seconds)': 'user_time',
  'System time (seconds)': 'system_time',
  'Elapsed (wall clock) time (h:mm:ss or m:ss)': 'elapsed_time',
  'Percent of CPU this job got': 'percent_of_cpu_this_job_got',
  'Major (requiring I/O) page faults': 'major_page_faults',
  'Minor (reclaiming a frame) page faults': 'minor_page_faults',
};

/** GNU time's `-v`: `label: value` lines behind a tab. Times are seconds. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    const match = /^\t([A-Z].*): (\S+)$/.exec(line);
    if (!match || match[1] === 'Command being timed') continue;
    const [, label, value] = match as unknown as [string, string, string];
    const name =
      names[label] ??
      label
        .replace(/ \(.*?\)/g, '')
        .toLowerCase()
        .replaceAll(' ', '_');
    if (name === 'elapsed_time') out.add(name, clockSeconds(value));
    else out.add(name, value.replace(/%$/, ''));
  }
  return out.samples;
}

/** `1:02:03` or `2:03.45` in seconds. */
function clockSeconds(text: string): number | undefined {
  if (!/^(\d+:)?\d+:\d\d(\.\d+)?$/.test(text)) return undefined;
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}
