import type { PayoutCall } from './client-history.ts';
import type { Json } from './mesh.ts';

/** What is known of one payout, from every side. */
export type PayoutRecords = {
  id: string;
  calls: readonly Pick<PayoutCall, 'outcome' | 'isReplayed' | 'body'>[];
  /** `GET /v1/payouts/{id}`; null where that answers 404. */
  payout: Json;
  /** The acquirer's own record. */
  sends: readonly Json[];
  /** The merchant's journals that concern it. */
  journals: readonly Json[];
  /** What reached its webhook: event names and delivery ids; null where nobody listened. */
  deliveries: readonly { event: string; deliveryId: string }[] | null;
};

const FINAL = new Set(['completed', 'failed', 'canceled']);

/** What the catalogue delivers on the way to each status; `payment.pix.completed` it does not. */
const DELIVERED: Readonly<Record<string, readonly string[]>> = {
  completed: ['payment.pix.created', 'payment.pix.processing'],
  canceled: ['payment.pix.canceled', 'payment.pix.created'],
};

/**
 * What contradicts the invariants in one records, one line each (ARCHITECTURE, Invariants: I3, I4, I5, I7, I8, I11,
 * I12, I16). Nothing may be under way any more.
 */
export function verifyPayout(records: PayoutRecords): string[] {
  return [
    ...verifyAnswers(records),
    ...verifyMoney(records),
    ...verifySends(records),
    ...verifyDeliveries(records),
  ];
}

/** I3 and I4: what was promised exists, what was refused does not, and one call alone created it. */
function verifyAnswers({ id, calls, payout }: PayoutRecords): string[] {
  const violations: string[] = [];
  const accepted = calls.filter((one) => one.outcome === 'ok');
  for (const { body } of accepted) {
    if (body.id !== id) violations.push(`I4 ${id}: the answer named ${body.id}`);
    if (payout === null) violations.push(`I3 ${id}: answered 201, and does not exist`);
    else if (body.amount !== payout.amount || body.fee !== payout.fee)
      violations.push(`I3 ${id}: answered ${body.amount} cents, is ${payout.amount}`);
  }
  const fresh = accepted.filter((one) => !one.isReplayed);
  if (fresh.length > 1) violations.push(`I4 ${id}: ${fresh.length} answers without a replay mark`);
  if (payout?.status === 'processing') violations.push(`I16 ${id}: still processing`);
  if (payout !== null && calls.every((one) => one.outcome === 'refused'))
    violations.push(`I3 ${id}: refused every time, and exists`);
  return violations;
}

/** I7 and I8: one hold of amount and fee, one end, and what is left of `available` fits the status. */
function verifyMoney({ id, payout, journals }: PayoutRecords): string[] {
  const held = journals.map((one) => movementOf(one, 'held')).filter((cents) => cents !== 0);
  const available = sum(journals.map((one) => movementOf(one, 'available')));
  if (payout === null)
    return held.length === 0 && available === 0 ? [] : [`I7 ${id}: money moved for no payout`];
  const cost = payout.amount + payout.fee;
  const expected = FINAL.has(payout.status) ? [cost, -cost] : [cost];
  const left = payout.status === 'failed' || payout.status === 'canceled' ? 0 : -cost;
  const violations: string[] = [];
  if (JSON.stringify(held.toSorted((a, b) => b - a)) !== JSON.stringify(expected))
    violations.push(`I7 ${id}: ${payout.status}, held moved by ${held.join(', ')}`);
  if (available !== left)
    violations.push(`I8 ${id}: ${payout.status}, available moved by ${available}`);
  return violations;
}

/** I5: one order at most, settled at most once, and settled exactly if the payout is completed. */
function verifySends({ id, payout, sends }: PayoutRecords): string[] {
  const orders = sends.filter((entry) => entry.kind === 'sent');
  const settled = sends.filter((entry) => entry.kind === 'settled');
  const violations: string[] = [];
  if (orders.length > 1) violations.push(`I5 ${id}: ordered ${orders.length} times`);
  if (settled.length !== (payout?.status === 'completed' ? 1 : 0))
    violations.push(`I5 ${id}: ${payout?.status}, settled ${settled.length} times`);
  for (const entry of settled) {
    if (entry.amount !== payout?.amount) violations.push(`I5 ${id}: settled ${entry.amount} cents`);
    if (entry.end_to_end_id !== payout?.end_to_end_id)
      violations.push(`I5 ${id}: settled as ${entry.end_to_end_id}`);
  }
  return violations;
}

/** I11 and I12: each delivered event once, repeats only under the delivery's own id. */
function verifyDeliveries({ id, payout, deliveries }: PayoutRecords): string[] {
  if (deliveries === null) return [];
  const byEvent = Map.groupBy(deliveries, (one) => one.event);
  const names = [...byEvent.keys()].toSorted();
  const violations: string[] = [];
  for (const [event, repeats] of byEvent) {
    if (new Set(repeats.map((one) => one.deliveryId)).size > 1)
      violations.push(`I11 ${id}: ${event} under several ids`);
  }
  const expected = payout === null ? [] : DELIVERED[payout.status];
  if (expected !== undefined && names.join() !== expected.join())
    violations.push(`I11 ${id}: ${payout?.status}, delivered ${names.join(', ')}`);
  if (names.includes('payment.pix.completed'))
    violations.push(`I12 ${id}: completed was delivered`);
  return violations;
}

/** By how many cents one journal moved one of the merchant's accounts; credits are positive. */
function movementOf(journal: Json, account: string): number {
  const entries: Json[] = journal.entries.filter((entry: Json) => entry.account === account);
  return sum(entries.map((entry) => (entry.direction === 'credit' ? entry.amount : -entry.amount)));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
