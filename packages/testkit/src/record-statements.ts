import type { Transaction } from '@pixmesh/postgres/pool';
import { render } from '@pixmesh/postgres/sql';

/** The texts of the statements that `work` runs, in their order. Each is answered with no row. */
export async function recordStatements(
  work: (tx: Transaction) => Promise<unknown>,
): Promise<string[]> {
  const texts: string[] = [];
  await work({
    inTransaction: true,
    query: (statement) => {
      texts.push(render(statement).text);
      return Promise.resolve([]);
    },
  });
  return texts;
}
