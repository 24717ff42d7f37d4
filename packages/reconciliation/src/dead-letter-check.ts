import { IS_OPEN } from '@pixmesh/postgres/dead-letters';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Check } from './check.ts';

/** Open letters that a run reads. */
const LETTERS_MAX = 1_001;

/**
 * No message waits in the service's dead letters. A letter is open from its first moment: there is no window. One that
 * was dismissed waits for nothing.
 */
export function deadLetterCheck(deps: { db: Queryable }): Check {
  return {
    name: 'dead_letter',
    windowMs: 0,
    run: async () => {
      const letters = await readOpenLetters(deps.db);
      const breaks = letters.map(({ id, code }) => ({ kind: 'open' as const, id, found: code }));
      return { compared: letters.length, breaks };
    },
  };
}

/** Oldest first. Reads `dead_letters_open`. */
async function readOpenLetters(db: Queryable): Promise<{ id: string; code: string }[]> {
  return await db.query(
    named(
      'reconciliation_open_letters',
      sql`select id, code from dead_letters where ${IS_OPEN} order by id limit ${LETTERS_MAX}`,
    ),
  );
}
