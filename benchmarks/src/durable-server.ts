import os from 'node:os';

import pg from 'pg';

/** What must be on for a figure to count: an acknowledged command survives the loss of power. */
const DURABILITY = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/** @throws when the server would lose acknowledged commands: its figures would be void */
export async function assertDurable(url: string): Promise<void> {
  for (const setting of DURABILITY) {
    const [row] = await queryOnce<Record<string, string>>(url, `show ${setting}`);
    const value = row?.[setting];
    console.log(`${setting} = ${value}`);
    if (value !== 'on') throw new Error(`${setting} is ${value}: the figures would be void`);
  }
}

/** @throws when the audit answers a row: a run that breaks an invariant is void */
export async function assertBooks(url: string, audit: string): Promise<void> {
  const breaks = await queryOnce<{ text: string }>(url, audit);
  const [first] = breaks;
  if (first) throw new Error(`void: ${breaks.length} breaks in the books, ${first.text}`);
}

/** The rows of one statement, on a connection of its own. */
export async function queryOnce<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await withClient(url, async (client) => {
    return (await client.query<Row>(text, [...values])).rows;
  });
}

export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** How busy the machine was with other things: figures of a busy one are worth less. */
export function describeMachine(): string {
  const [oneMinute = 0] = os.loadavg();
  const cpu = os.cpus()[0]?.model ?? 'unknown';
  return `${os.cpus().length} cores (${cpu}), load average ${oneMinute.toFixed(2)}, Node ${process.version}`;
}
