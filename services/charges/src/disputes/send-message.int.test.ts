import { newId } from '@pixmesh/kernel/ids';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { aDispute } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { applyChange } from './apply-change.ts';
import { lose } from './decide-infraction.ts';
import { findDispute, insertDispute } from './disputes.sql.ts';
import { sendMessage } from './send-message.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

function theDeps(db: Database) {
  return { db, receiver: RECEIVER, wakeOutbox: () => undefined };
}

/** A database whose transactions are overtaken once: another process commits just before the named statement. */
function overtaken(db: Database, statementName: string, commit: () => Promise<unknown>): Database {
  let isOver = false;
  return {
    ...db,
    transaction: async (work) =>
      await db.transaction(async (tx) => {
        const watched: Transaction = {
          ...tx,
          query: async (statement) => {
            if (statement.name === statementName && !isOver) {
              isOver = true;
              await commit();
            }
            return await tx.query(statement);
          },
        };
        return await work(watched);
      }),
  };
}

test.each(['find_any_charge', 'move_charges'])(
  'a message shows the dispute as the events before it left it, also where it was lost just before %s',
  async (statementName) => {
    const { db } = database;
    const { id: chargeId, accountId } = await storeCharge(db, { status: 'infraction' });
    const dispute = aDispute({ chargeId, accountId, endToEndId: `E${newId()}` });
    await insertDispute(db, dispute);
    const loseIt = async () => {
      const [charge, stored] = [
        await findAnyCharge(db, chargeId),
        await findDispute(db, dispute.id),
      ];
      if (charge === null || stored === null) throw new Error('nothing is stored');
      const lost = lose(charge, { arrivedResolved: false, block: 'keep' });
      const read = { dispute: stored, charge, isNew: false };
      expect(await applyChange(theDeps(db), read, lost)).toBe(true);
    };
    await sendMessage(theDeps(overtaken(db, statementName, loseIt)), {
      id: newId(),
      disputeId: dispute.id,
      message: 'x',
      operatorId: newId(),
    });
    const events = await db.query<{ type: string; status: string }>(sql`
      select type, message->'data'->>'status' as status from events where key = ${chargeId} order by sequence`);
    expect(events).toEqual([
      { type: 'charge.pix.charged_back', status: 'charged_back' },
      { type: 'dispute.pix.lost', status: 'lost' },
      { type: 'dispute.pix.message', status: 'lost' },
    ]);
  },
);
