import { newId } from '@pixmesh/kernel/ids';
import { scaled } from '@pixmesh/testkit/long-runs';
import { aCaller } from '@pixmesh/testkit/test-callers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type PayoutsAtAcquirer, startPayoutsAtAcquirer } from '#test/payouts-under-test.ts';

let payouts: PayoutsAtAcquirer;
const accountId = newId();
const RUNS = scaled(10, 5_000);

beforeAll(async () => {
  payouts = await startPayoutsAtAcquirer();
  await payouts.ledger.fund(accountId, 10 * RUNS * 1_000);
});
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };
const { settings } = aCaller();
const operators = [newId(), newId(), newId()] as const;

type Act =
  | { kind: 'approve'; by: number; isEnabled: boolean }
  | { kind: 'cancel'; by: number }
  | { kind: 'repeat' };
type State = { status: string; approvedBy: string | null };

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('approve' as const),
    by: fc.nat(2),
    isEnabled: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('cancel' as const), by: fc.nat(2) }),
  fc.record({ kind: fc.constant('repeat' as const) }),
);

/** What an act does to a payout that operator 0 requested, written down as a table. */
function expected(state: State, step: Act): { state: State; answer: string } {
  if (step.kind === 'repeat') return { state, answer: '201' };
  if (step.kind === 'cancel') {
    if (state.status === 'processing') return { state, answer: '409 PAYOUT_NOT_PENDING' };
    return { state: { ...state, status: 'canceled' }, answer: '200' };
  }
  if (state.status === 'processing') return { state, answer: '200' };
  if (state.status === 'canceled') return { state, answer: '409 PAYOUT_NOT_PENDING' };
  if (step.by === 0) return { state, answer: '422 APPROVER_MUST_DIFFER' };
  if (!step.isEnabled) return { state, answer: '422 PAYOUTS_DISABLED' };
  const approvedBy = operators[step.by] ?? null;
  return { state: { status: 'processing', approvedBy }, answer: '200' };
}

test(
  'any order of approvals, cancellations and repeats follows the table of states',
  { timeout: scaled(60_000, 3_600_000) },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 8 }), async (steps) => {
        const order = { operator_id: operators[0], creation_id: newId(), settings, body };
        const id = order.creation_id;
        const create = () =>
          payouts.request(null, `POST /internal/accounts/${accountId}/payouts`, order);
        expect((await create()).status).toBe(201);
        let state: State = { status: 'pending', approvedBy: null };
        for (const step of steps) {
          const wanted = expected(state, step);
          const answer = step.kind === 'repeat' ? await create() : await decide(id, step);
          const { code } = answer.body;
          expect(code === undefined ? `${answer.status}` : `${answer.status} ${code}`).toBe(
            wanted.answer,
          );
          state = wanted.state;
          const row = await payouts.row(id);
          expect([row?.status, row?.approvedBy]).toEqual([state.status, state.approvedBy]);
        }
        const isCanceled = state.status === 'canceled';
        const events = await payouts.eventsOf(id);
        expect(events.map(({ sequence }) => sequence)).toEqual(isCanceled ? [1, 2] : [1]);
        const ordered = await payouts.eventsOf(accountId);
        const own = ordered.filter(({ message }) => message.data.resource_id === id);
        expect(own).toHaveLength(isCanceled ? 1 : 0);
      }),
      { numRuns: RUNS },
    );
  },
);

async function decide(id: string, step: Exclude<Act, { kind: 'repeat' }>) {
  const operator_id = operators[step.by];
  if (step.kind === 'cancel') {
    return await payouts.request(null, `POST /internal/payouts/${id}/cancel`, { operator_id });
  }
  return await payouts.request(null, `POST /internal/payouts/${id}/approve`, {
    operator_id,
    settings: { ...settings, payouts_enabled: step.isEnabled },
  });
}
