/** The largest JSON document that is read; a larger one is no output of a benchmark. */
const maxLength = 64 << 20;

/**
 * The complete JSON objects among the lines: each begins with a line that is `{` or starts so, and ends where its braces close.
 * Other lines (commands, warnings) are skipped, and so is an object that is cut or isn't JSON; `onCut` is told
 * when the last one is cut.
 */
export function* jsonDocuments(lines: Iterable<string>, onCut?: () => void): Generator<unknown> {
  let parts: string[] = [];
  let size = 0;
  let depth = 0;
  for (const line of lines) {
    if (depth === 0 && !line.trimStart().startsWith('{')) continue;
    parts.push(line);
    size += line.length;
    depth += braces(line);
    if (depth > 0 && size <= maxLength) continue;
    const document = depth === 0 ? parseJson(parts.join('\n')) : undefined;
    parts = [];
    size = 0;
    depth = 0;
    if (document !== undefined) yield document;
  }
  if (depth > 0) onCut?.();
}

/** Opening less closing braces outside of strings; no string of JSON spans lines. */
export function braces(line: string): number {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (inString && char === '\\') i++;
    else if (char === '"') inString = !inString;
    else if (!inString && char === '{') depth++;
    else if (!inString && char === '}') depth--;
  }
  return depth;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value at a path of keys, or undefined; never throws on other shapes. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

export function numberAt(value: unknown, ...path: (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : undefined;
}
