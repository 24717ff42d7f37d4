import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { aMerchant, createCharge, readCharge, simulator } from './mesh.ts';

/** Gateway's own limit of a request, ten seconds, with room for a busy machine. */
const ANSWER_MS_MAX = 15_000;

/** What an acquirer may do at issuing; a usual run takes one, by its seed. */
const FAULTS: readonly [string, { fault: string; status?: number }][] = [
  ['hangs', { fault: 'hang' }],
  ['answers 500 after the effect', { fault: 'error_after', status: 500 }],
  ['answers 500 before the effect', { fault: 'error_before', status: 500 }],
  ['answers garbage', { fault: 'garbage' }],
  ['resets the connection', { fault: 'reset' }],
];

test.each(sampled(FAULTS, 1))(
  'an acquirer that %s at issuing never makes a failure or a second Pix',
  async (_name, rule) => {
    const merchant = await aMerchant();
    const key = randomUUID();
    await simulator.addFaults(merchant, [{ operation: 'issueCharge', count: 1, ...rule }]);
    const startedMs = performance.now();
    const first = await createCharge(merchant, {}, key);
    expect(performance.now() - startedMs).toBeLessThan(ANSWER_MS_MAX);
    if (first.status === 201) {
      // Read back in time: as good as an answer.
      expect(first.body.status).toBe('pending');
    } else {
      expect(first.status).toBe(500);
      expect(first.body.code).toBe('INTERNAL_ERROR');
      expect(['processing', 'pending']).toContain(
        (await readCharge(merchant, first.body.charge_id)).status,
      );
    }
    const id = first.body.charge_id ?? first.body.id;
    const repeated = await eventually(async () => {
      const answer = await createCharge(merchant, {}, key);
      expect(answer.body.status).toBe('pending');
      return answer;
    }, 30_000);
    expect(repeated.status).toBe(201);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body.id).toBe(id);
    const journal = await simulator.journalOf(id);
    expect(journal.map((entry) => entry.kind)).toEqual(['issued']);
  },
);

test('a charge whose answer got lost is settled without anybody asking again', async () => {
  const merchant = await aMerchant();
  const faults = await simulator.addFaults(merchant, [
    { operation: 'issueCharge', count: 1, fault: 'error_after', status: 500 },
    { operation: 'getCharge', fault: 'error_before', status: 503 },
  ]);
  const first = await createCharge(merchant);
  expect(first.status).toBe(500);
  await faults.remove();
  await eventually(async () => {
    expect((await readCharge(merchant, first.body.charge_id)).status).toBe('pending');
  }, 30_000);
});

test('a refusal is 422 with the charge, and the same key returns it as failed', async () => {
  const merchant = await aMerchant();
  const key = randomUUID();
  await simulator.addFaults(merchant, [
    {
      operation: 'issueCharge',
      fault: 'refusal',
      count: 1,
      code: 'documento_bloqueado',
      message: 'Documento bloqueado',
    },
  ]);
  const refused = await createCharge(merchant, {}, key);
  expect(refused.status).toBe(422);
  expect(refused.body).toMatchObject({
    code: 'ACQUIRER_REJECTED',
    message: 'Documento bloqueado',
    details: [],
  });
  const repeated = await createCharge(merchant, {}, key);
  expect(repeated.status).toBe(201);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  expect(repeated.body).toMatchObject({
    id: refused.body.charge_id,
    status: 'failed',
    failure_reason: 'documento_bloqueado: Documento bloqueado',
    expires_at: null,
    pix: { br_code: null, end_to_end_id: null },
  });
});
