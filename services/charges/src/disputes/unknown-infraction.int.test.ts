import { newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aDispute, anInfraction } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { confirmDefenses, type ConfirmDeps } from './confirm-defenses.ts';
import { findDispute, insertDispute } from './disputes.sql.ts';
import { sendDefense } from './send-defense.ts';

const TEXT = 'O produto foi entregue.';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

function theDeps(answer: 'not_found' | 'accepted'): ConfirmDeps {
  return {
    db: database.db,
    receiver: RECEIVER,
    logger: createLogger('charges', 'silent'),
    wakeOutbox: () => undefined,
    acquirer: { submitDefense: () => Promise.resolve({ kind: answer }) },
  };
}

test('a defense stays stored while the acquirer does not know the infraction that its list shows, and is sent again', async () => {
  const { id: chargeId, accountId } = await storeCharge(database.db, { status: 'infraction' });
  const { id, ...rest } = aDispute({ chargeId, accountId, endToEndId: `E${newId()}` });
  await insertDispute(database.db, { id, ...rest });
  const stored = async () => await findDispute(database.db, id);
  const { infractionId } = rest;
  const listed = [anInfraction({ id: infractionId })];
  const afterwards = () => new Date(Date.now() + 60_000);

  await expect(sendDefense(theDeps('not_found'), id, TEXT)).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
  });
  expect(await stored()).toMatchObject({ intendedDefense: { text: TEXT } });
  await confirmDefenses(theDeps('not_found'), listed, afterwards());
  expect(await stored()).toMatchObject({ intendedDefense: { text: TEXT } });
  await confirmDefenses(theDeps('accepted'), listed, afterwards());
  expect(await stored()).toMatchObject({
    status: 'under_review',
    defenseText: TEXT,
    intendedDefense: null,
  });
});
