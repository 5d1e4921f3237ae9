/**
 * What a page query needs of a connection: a pg Pool or Client. Named statements are planned once per connection, which
 * is half the time of a page.
 */
export interface Queryable {
  // biome-ignore lint/suspicious/noExplicitAny: rows are typed by the query that writes them
  query(config: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: any[]; rowCount: number | null }>;
}

/** Runs one statement and returns its rows as T; the statement's columns are the caller's promise. */
export async function rows<T>(db: Queryable, name: string, text: string, values: unknown[] = []): Promise<T[]> {
  const result = await db.query({ name, text, values });
  return result.rows as T[];
}
