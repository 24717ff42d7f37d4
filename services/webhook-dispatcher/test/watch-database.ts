import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Statement } from '@pixmesh/postgres/sql';

type Seen = { statements: string[]; transactions: number };

/** A database that notes what is asked of it; `before` is called with the name of each statement. */
export function watchDatabase(
  db: Database,
  before: (name: string) => Promise<void> = async () => undefined,
): Database & { seen: Seen } {
  const seen: Seen = { statements: [], transactions: 0 };
  const watch =
    (queryable: Pick<Database, 'query'>) =>
    async <Row extends object>(statement: Statement): Promise<Row[]> => {
      seen.statements.push(statement.name ?? '');
      await before(statement.name ?? '');
      return await queryable.query<Row>(statement);
    };
  return {
    seen,
    query: watch(db),
    transaction: async (work) => {
      seen.transactions += 1;
      return await db.transaction((tx) => {
        const watchedTx: Transaction = { inTransaction: true, query: watch(tx) };
        return work(watchedTx);
      });
    },
    snapshot: (read) => db.snapshot((tx) => read({ query: watch(tx) })),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
