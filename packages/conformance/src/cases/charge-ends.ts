import { equal, holds } from '../client/expectations.ts';
import { it, type ObservedCase, staged } from '../suite/case.ts';
import {
  canceledCharge,
  lostDispute,
  openedDispute,
  refundedCharge,
  wonDispute,
} from '../world/charge-lives.ts';

/** Of the table of charge states, those that a dashboard or a payer's bank brings about. */
export const CHARGE_END_CASES: readonly ObservedCase[] = [
  it.admin('canceled', '`canceled`: canceled before payment', async (w) => {
    const { status, paid_at } = (await canceledCharge(w)).charge;
    equal([status, paid_at], ['canceled', null], 'status and paid_at');
  }),
  staged('refunded', '`refunded`: amount returned to the payer', async (w) => {
    const { charge, before, after } = await refundedCharge(w);
    equal(charge.status, 'refunded', 'status');
    equal(before.available - after.available, charge.amount, 'what left the balance');
  }),
  staged('charged_back', '`charged_back`: contested by the payer', async (w) =>
    equal((await lostDispute(w)).charge.status, 'charged_back', 'status'),
  ),
  staged(
    'infraction',
    '`infraction`: Pix paid with an open MED infraction; outcome pending',
    async (w) => {
      const { status, paid_at, pix } = (await openedDispute(w)).infraction;
      equal(status, 'infraction', 'status');
      holds(paid_at !== null && pix.end_to_end_id !== null, 'the Pix is paid', paid_at);
    },
  ),
  staged(
    'infraction-returned',
    '`infraction`, MED outcome: payment returned: `charged_back`',
    async (w) => {
      const { infraction, charge, before, after } = await lostDispute(w);
      equal([infraction.status, charge.status], ['infraction', 'charged_back'], 'status');
      equal(before.available - after.available, charge.amount, 'what left the balance');
    },
  ),
  staged('infraction-otherwise', '`infraction`, MED outcome: otherwise: `paid`', async (w) => {
    const { infraction, charge, before, after } = await wonDispute(w);
    equal([infraction.status, charge.status], ['infraction', 'paid'], 'status');
    equal(after.available, before.available, 'available');
  }),
];
