import { equal, holds, shaped } from '../client/expectations.ts';
import { Charge, Dispute, DISPUTE_STATUSES, Instant } from '../client/schemas.ts';
import { delivered, it, type ObservedCase, section, staged, unobservable } from '../suite/case.ts';
import {
  announced,
  ARRIVALS,
  arrivedDispute,
  type ContestedLife,
  lostAfterWon,
  reviewedDispute,
  wonDispute,
} from '../world/charge-lives.ts';
import { catalog, deliveredCharge } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';

type Data = Readonly<Record<string, unknown>>;
/** One dispute as it was opened and as it was won. */
type DisputeSteps = { life: ContestedLife; opened: Data; won: Data };

async function dataOf(w: World, life: { endpointUrl: string }, event: string): Promise<Data> {
  return (await announced(w, life, event)).envelope.data;
}

export const DISPUTE_STATUS_CASES = section('dispute-status', [
  staged.receiver('values', 'Values: `open`, `under_review`, `won`, `lost`', async (w) => {
    const life = await lostAfterWon(w);
    const statuses: unknown[] = [];
    for (const action of ['opened', 'message', 'won', 'lost']) {
      statuses.push((await dataOf(w, life, `dispute.pix.${action}`))['status']);
    }
    equal(statuses, [...DISPUTE_STATUSES], 'data.status as it moves on');
  }),
  staged.receiver(
    'won-then-lost',
    'A `won` dispute can become `lost` if the institution returns the Pix',
    async (w) => {
      const life = await lostAfterWon(w);
      const won = await dataOf(w, life, 'dispute.pix.won');
      const lost = await dataOf(w, life, 'dispute.pix.lost');
      equal(lost['id'], won['id'], 'data.id');
      equal(life.charge.status, 'charged_back', 'the status of the charge');
    },
  ),
  unobservable(
    'lost-is-final',
    '`lost` is to be treated as final even after a `won`',
    'advice to the client; what the installation does is dispute-status.won-then-lost',
  ),
  it('no-endpoint', 'No endpoint for disputes is shown', async (w) => {
    refused(await w.own.call('GET /v1/disputes'), 404);
  }),
  it('known-events', 'the outcomes `won` and `lost` are events of the catalog', async (w) => {
    const names = (await catalog(w)).map(({ event }) => event);
    holds(names.includes('dispute.pix.won'), 'dispute.pix.won', names);
    holds(names.includes('dispute.pix.lost'), 'dispute.pix.lost', names);
  }),
]);

export const EVENT_RESOURCE_CASES = section('event-resource', [
  delivered('envelope', 'the envelope is as the section Events says', async (w) => {
    for (const [event, { envelope }] of (await deliveredCharge(w)).deliveries) {
      equal(envelope.event, event, 'event');
    }
  }),
  delivered('data', '`data` is the resource in the shape of its GET', async (w) => {
    for (const [event, { envelope }] of (await deliveredCharge(w)).deliveries) {
      shaped(Charge, envelope.data, `data of ${event}`);
    }
  }),
  staged.receiver('dispute-data', 'dispute data is as the section Events says', async (w) => {
    const life = await lostAfterWon(w);
    for (const action of ['opened', 'message', 'won', 'lost']) {
      shaped(Dispute, await dataOf(w, life, `dispute.pix.${action}`), `data of ${action}`);
    }
  }),
]);

/** The list of fields at the end of the section Catalog. */
const DISPUTE_FIELDS: Readonly<Record<string, (steps: DisputeSteps) => unknown>> = {
  object: ({ opened }) => equal(opened['object'], 'dispute', 'object'),
  charge_id: ({ opened, life }) => equal(opened['charge_id'], life.charge.id, 'charge_id'),
  status: ({ opened, won }) => equal([opened['status'], won['status']], ['open', 'won'], 'status'),
  amount: ({ opened, life }) => equal(opened['amount'], life.disputedCents, 'amount'),
  reason: ({ opened: { reason } }) =>
    holds(typeof reason === 'string' && reason !== '', 'reason', reason),
  opened_at: ({ opened }) => shaped(Instant, opened['opened_at'], 'opened_at'),
  defense_deadline_at: ({ opened }) => {
    const deadline = shaped(Instant, opened['defense_deadline_at'], 'defense_deadline_at');
    const isLater = Date.parse(deadline) > Date.parse(String(opened['opened_at']));
    holds(isLater, 'later than opened_at', opened);
  },
  resolved_at: ({ opened, won }) => {
    equal(opened['resolved_at'], null, 'resolved_at of an open dispute');
    shaped(Instant, won['resolved_at'], 'resolved_at of a won one');
  },
};

function fieldCase([field, check]: readonly [
  string,
  (steps: DisputeSteps) => unknown,
]): ObservedCase {
  return staged.receiver(`dispute.${field}`, `Dispute \`data\` has \`${field}\``, async (w) => {
    const life = await wonDispute(w);
    const opened = await dataOf(w, life, 'dispute.pix.opened');
    check({ life, opened, won: await dataOf(w, life, 'dispute.pix.won') });
  });
}

export const DISPUTE_DATA_CASES: readonly ObservedCase[] = [
  staged.receiver(
    'arrived-resolved',
    'A dispute may arrive resolved: `dispute.pix.lost` with `arrived_resolved`',
    async (w) => {
      const life = await arrivedDispute(w, 'MED_FRAUDE');
      const lost = await dataOf(w, life, 'dispute.pix.lost');
      equal([lost['status'], lost['arrived_resolved']], ['lost', true], 'the dispute');
    },
  ),
  staged.receiver(
    'arrived-with',
    'and the charge receives `refunded` or `charged_back` along with it',
    async (w) => {
      for (const nature of ['MED_FRAUDE', 'ORIGINAL'] as const) {
        const life = await arrivedDispute(w, nature);
        const status = ARRIVALS[nature];
        const charge = await dataOf(w, life, `charge.pix.${status}`);
        equal([charge['id'], charge['status']], [life.charge.id, status], 'the charge');
        const lost = await dataOf(w, life, 'dispute.pix.lost');
        equal(lost['charge_id'], life.charge.id, 'charge_id of the dispute');
      }
    },
  ),
  ...Object.entries(DISPUTE_FIELDS).map(fieldCase),
];

/** `dispute.*` among the formats of deliveries. */
export const DISPUTE_FORMAT_CASES: readonly ObservedCase[] = [
  staged.receiver('dispute', '`data`: the dispute', async (w) => {
    const life = await reviewedDispute(w);
    for (const action of ['opened', 'message']) {
      const { envelope, headers } = await announced(w, life, `dispute.pix.${action}`);
      shaped(Dispute, envelope.data, 'data');
      equal(envelope.resource, 'dispute', 'resource');
      equal(headers['x-webhook-resource'], 'dispute', 'X-Webhook-Resource');
    }
  }),
];
