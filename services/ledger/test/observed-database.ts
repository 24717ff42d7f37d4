import type { Database, Queryable } from '@pixmesh/postgres/pool';
import type { Statement } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';

/** A database that calls `before` with each statement, and with the connection or transaction that is to run it. */
export function observedDatabase(
  db: Database,
  before: (queryable: Queryable, statement: Statement) => Promise<void>,
): Database {
  const observed =
    (queryable: Queryable) =>
    async <Row extends object>(statement: Statement): Promise<Row[]> => {
      await before(queryable, statement);
      return await queryable.query<Row>(statement);
    };
  return {
    query: observed(db),
    transaction: (work) =>
      db.transaction((tx) => work({ inTransaction: true, query: observed(tx) })),
    snapshot: (read) => db.snapshot((tx) => read({ query: observed(tx) })),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** A database that notes how much the statement reads that reads most, and how tables are read. For reads alone. */
export function explainedDatabase(db: Database): Database & {
  read: { rowsMax: number; scans: Set<string> };
} {
  const read = { rowsMax: 0, scans: new Set<string>() };
  const explained = observedDatabase(db, async (queryable, statement) => {
    const { scans, rowsRead } = await explainStatement(queryable, statement);
    read.rowsMax = Math.max(read.rowsMax, rowsRead);
    for (const scan of scans) read.scans.add(scan);
  });
  return { ...explained, read };
}
