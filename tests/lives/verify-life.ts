import type { Json } from '../e2e/mesh.ts';

/** Everything that is known of one charge, from every side, once all has come to rest. */
export type LifeRecords = {
  /** `GET /v1/charges/{id}`. */
  charge: Json;
  /** The acquirer's own entries of the charge's Pix: `paid`, `returned`, `dispute_opened`, `dispute_decided`. */
  journal: readonly Json[];
  /** `GET /admin/disputes?charge_id=`. */
  disputes: readonly Json[];
  /** Journals of the merchant that name the charge or one of its refunds. */
  suspense: readonly Json[];
  /** What the merchant's endpoint received, by `data.id` and `data.charge_id`. */
  events: readonly { event: string; deliveryId: string; data: Json }[];
};

const PAID = new Set(['paid', 'infraction', 'refunded', 'charged_back']);

/** What contradicts what happened at the acquirer in one life, one line each. */
export function verifyLife(records: LifeRecords): string[] {
  const accepted = records.charge.pix.end_to_end_id;
  const violations = [
    ...verifyReceived(records, accepted),
    ...(accepted === null ? [] : verifyState(records, accepted)),
    ...verifyEvents(records),
  ];
  return violations.map((line) => `${records.charge.id}: ${line}`);
}

/** I5 and I6: the charge has at most one Pix, of its amount; every other one stands in suspense, to the cent. */
function verifyReceived(records: LifeRecords, accepted: string | null): string[] {
  const { charge, journal, suspense } = records;
  const violations: string[] = [];
  const paid = journal.filter((entry) => entry.kind === 'paid');
  const own = paid.filter((entry) => entry.end_to_end_id === accepted);
  if (PAID.has(charge.status) !== (accepted !== null))
    violations.push(`I6 ${charge.status} with Pix ${accepted}`);
  if (accepted !== null && (own.length !== 1 || own[0].amount !== charge.amount))
    violations.push(`I6 paid by ${own.map((entry) => entry.amount).join(', ')}`);
  if (suspense.some((item) => item.end_to_end_id === accepted))
    violations.push(`I6 ${accepted} is credited and in suspense`);
  for (const entry of paid.filter((one) => one.end_to_end_id !== accepted)) {
    const items = suspense.filter((item) => item.end_to_end_id === entry.end_to_end_id);
    if (items.length !== 1 || items[0].amount !== entry.amount)
      violations.push(`I6 ${entry.end_to_end_id} has ${items.length} items of suspense`);
  }
  return violations;
}

/** I9: the status that the acquirer's returns and decisions leave. */
function verifyState({ charge, journal, disputes }: LifeRecords, accepted: string): string[] {
  const violations: string[] = [];
  const returned = journal.filter(
    (entry) => entry.kind === 'returned' && entry.end_to_end_id === accepted,
  );
  const original = sumOf(returned.filter(({ natureza }) => natureza === 'ORIGINAL'));
  const med = sumOf(returned.filter(({ natureza }) => natureza !== 'ORIGINAL'));
  if (charge.refunded_amount !== original)
    violations.push(`I6 refunded ${charge.refunded_amount}, returned ${original}`);
  const medOfDisputes = disputes.reduce((sum, one) => sum + one.returned_amount, 0);
  if (disputes.length > 0 && medOfDisputes !== med)
    violations.push(`I6 disputes returned ${medOfDisputes}, the MED ${med}`);
  const expected = statusOf({ charge, original, med, disputes });
  if (charge.status !== expected) violations.push(`I9 ${charge.status}, not ${expected}`);
  return violations;
}

function statusOf(facts: {
  charge: Json;
  original: number;
  med: number;
  disputes: readonly Json[];
}) {
  const { charge, original, med, disputes } = facts;
  if (original === charge.amount) return 'refunded';
  if (med > 0 || disputes.some(({ status }) => status === 'lost')) return 'charged_back';
  const isOpen = disputes.some(({ status }) => status === 'open' || status === 'under_review');
  return isOpen ? 'infraction' : 'paid';
}

/** I10 and I11: each state was announced once for each time it began, and nothing that did not happen. */
function verifyEvents({ charge, disputes, events }: LifeRecords): string[] {
  const violations: string[] = [];
  const delivered = Map.groupBy(events, ({ event, data }) => `${event} ${data.id}`);
  // The only state that a charge may leave for one that it came from: by a dispute that is won.
  const infractions = disputes.filter((dispute) => !dispute.arrived_resolved).length;
  for (const [name, deliveries] of delivered) {
    const most = name.startsWith('charge.pix.infraction ') ? infractions : 1;
    if (new Set(deliveries.map(({ deliveryId }) => deliveryId)).size > most)
      violations.push(`I11 ${name} under several ids`);
  }
  const expect = (event: string, id: string, is: boolean): void => {
    if (delivered.has(`${event} ${id}`) !== is)
      violations.push(`I10 ${event} of ${id} was ${is ? 'not ' : ''}delivered`);
  };
  expect('charge.pix.created', charge.id, charge.status !== 'failed');
  expect('charge.pix.paid', charge.id, PAID.has(charge.status));
  if (charge.status === 'infraction') expect('charge.pix.infraction', charge.id, true);
  expect('charge.pix.canceled', charge.id, charge.status === 'canceled');
  expect('charge.pix.refunded', charge.id, charge.status === 'refunded');
  expect('charge.pix.charged_back', charge.id, charge.status === 'charged_back');
  for (const dispute of disputes) {
    expect('dispute.pix.opened', dispute.id, !dispute.arrived_resolved);
    expect('dispute.pix.lost', dispute.id, dispute.status === 'lost');
    if (dispute.status === 'won') expect('dispute.pix.won', dispute.id, true);
  }
  return violations;
}

function sumOf(entries: readonly Json[]): number {
  return entries.reduce((sum, entry) => sum + entry.amount, 0);
}
