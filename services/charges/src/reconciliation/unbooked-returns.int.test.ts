import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';

import { receivedCheck } from './received-check.ts';

const MINUTE_MS = 60_000;
const MONTH_MS = 30 * 24 * 60 * MINUTE_MS;

test('a return that could not be booked is a break of the next run, however long ago its Pix was paid', async () => {
  await using database = await createTestDatabase('charges');
  const endToEndId = `E${newId()}`;
  const paidAt = new Date(Date.now() - MONTH_MS);
  const returned = aPixReturn({ settledAt: new Date() });
  const pix: ReceivedPix = aReceivedPix({ endToEndId, paidAt, returns: [returned] });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, amount, paid_at, disposition, reason)
    values (${endToEndId}, ${pix.amountCents}, ${paidAt}, 'suspense', 'unowned')`);
  await database.db.query(sql`
    insert into pix_returns (end_to_end_id, return_id, amount, disposition)
    values (${endToEndId}, ${returned.id}, ${returned.amountCents}, 'unbooked')`);
  const check = receivedCheck({
    db: database.db,
    pixKey: 'key',
    ledger: {
      findJournals: async () => await Promise.resolve(new Map()),
      listJournals: async function* () {},
    },
    acquirer: {
      getReceived: async () => await Promise.resolve({ kind: 'found', value: pix }),
      listReceived: async () =>
        await Promise.resolve({ kind: 'page', items: [], unreadable: [], hasMore: false }),
    },
  });
  const since = new Date(Date.now() - MINUTE_MS);
  const { breaks } = await check.run({
    since,
    knownIds: [],
    signal: AbortSignal.timeout(MINUTE_MS),
  });
  expect(breaks.map(({ kind, id }) => `${kind} ${id}`)).toContain(
    `unbooked ${endToEndId}/${returned.id}`,
  );
});
