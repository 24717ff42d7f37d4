import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { aMerchant, createCharge, simulator } from './mesh.ts';

test('fifty parallel calls with one key make one charge and one Pix, and 49 of them say so', async () => {
  const merchant = await aMerchant();
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => createCharge(merchant, { amount: 777 }, key)),
  );
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 50 }, () => 201));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
  expect(replayed.length).toBe(49);
  const journal = await simulator.journalOf(answers[0]?.body.id);
  expect(journal.map((entry) => entry.kind)).toEqual(['issued']);
});

test('another body under the same key answers the first charge and says so', async () => {
  const merchant = await aMerchant();
  const key = randomUUID();
  const first = await createCharge(merchant, { amount: 500 }, key);
  const same = await createCharge(merchant, { amount: 500, unknown: 1 }, key);
  const other = await createCharge(merchant, { amount: 501 }, key);
  const broken = await createCharge(merchant, { amount: 'x' }, key);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(same.headers.get('idempotency-mismatch')).toBeNull();
  for (const answer of [other, broken]) {
    expect(answer.status).toBe(201);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(answer.headers.get('idempotency-mismatch')).toBe('true');
  }
  for (const answer of [same, other, broken]) expect(answer.body).toEqual(first.body);
});

test('two applications may use the same key', async () => {
  const key = randomUUID();
  const [a, b] = [await aMerchant(), await aMerchant()];
  const [first, second] = [await createCharge(a, {}, key), await createCharge(b, {}, key)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body.id).not.toBe(second.body.id);
});

test('a refused body leaves the key free', async () => {
  const merchant = await aMerchant();
  const key = randomUUID();
  expect((await createCharge(merchant, { amount: 99 }, key)).body.code).toBe(
    'AMOUNT_BELOW_MINIMUM',
  );
  const corrected = await createCharge(merchant, { amount: 100 }, key);
  expect(corrected.status).toBe(201);
  expect(corrected.headers.get('idempotent-replayed')).toBeNull();
});
