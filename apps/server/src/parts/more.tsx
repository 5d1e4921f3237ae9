import { type Query, query as toQuery } from '../urls.ts';

/** The way to older rows of a list, as a link. */
export function More({
  path,
  filter,
  items,
}: {
  path: string;
  filter: Query & { limit: number };
  items: { id: number }[];
}) {
  const { before, ...rest } = filter;
  return (
    <nav class="pages" aria-label="Pages">
      {before ? (
        <a href={`${path}${toQuery({ ...rest, limit: rest.limit === 50 ? null : rest.limit })}`}>newest</a>
      ) : null}
      {items.length === filter.limit ? (
        <a
          rel="next"
          href={`${path}${toQuery({ ...rest, limit: rest.limit === 50 ? null : rest.limit, before: items.at(-1)!.id })}`}
        >
          older →
        </a>
      ) : null}
    </nav>
  );
}

export function Choice({
  name,
  label,
  value,
  options,
}: {
  name: string;
  label: string;
  value?: string;
  options: readonly string[];
}) {
  return (
    <select name={name} aria-label={label}>
      <option value="">{label}: all</option>
      {options.map((option) => (
        <option value={option} selected={value === option}>
          {option}
        </option>
      ))}
    </select>
  );
}
