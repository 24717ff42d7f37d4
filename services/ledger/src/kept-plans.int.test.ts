import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import type { Statement } from '@pixmesh/postgres/sql';
import { explainKeptPlan } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { holdsStatement } from './holds/holds.sql.ts';
import { journalsStatement } from './journals/list-journals.sql.ts';
import { suspenseStatement } from './suspense/suspense.sql.ts';

const holds = { limit: 2, startingAfter: newId(), filters: { state: null, kind: null } };

test.each<[string, Statement, RegExp]>([
  ['holds', holdsStatement(holds), /Index Cond: \(hold_id > /],
  [
    "an account's journals",
    journalsStatement(newId(), { limit: 2, before: 7n }),
    /Index Cond: .*\(version < /,
  ],
  [
    'open items of suspense',
    suspenseStatement({ limit: 2, startingAfter: newId(), filters: { status: 'open' } }),
    /suspense_items_open/,
  ],
])(
  'planned without its values, a page of %s is read by its index',
  async (_name, statement, entry) => {
    await using database = await createTestDatabase('ledger');
    const { url } = database;
    await using db = createPool({ url, applicationName: 'plans-test', max: 1, plansOnce: true });
    expect(await explainKeptPlan(db, statement)).toMatch(entry);
  },
);
