import type { Database } from '@pixmesh/postgres/pool';
import { render, sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The plan that a prepared statement keeps once it has been used a few times: made without its values, and for the
 * tables as they are now, which may be empty. A scan of a table shows where no key would do, and not where the server
 * happens to know that the table is small.
 */
export async function genericPlan(
  db: Database,
  statement: Statement,
): Promise<{ text: string; scans: string[] }> {
  const { name: _name, ...unnamed } = statement;
  const text = `explain (generic_plan, costs off) ${render(unnamed).text}`;
  const rows = await db.transaction(async (tx) => {
    await tx.query(sql`select set_config('enable_seqscan', 'off', true)`);
    return await tx.query<{ 'QUERY PLAN': string }>(sql(Object.assign([text], { raw: [text] })));
  });
  const lines = rows.map((row) => row['QUERY PLAN']);
  return {
    text: lines.join('\n'),
    scans: lines.flatMap((line) => /Seq Scan on (\w+)/.exec(line)?.[1] ?? []),
  };
}
