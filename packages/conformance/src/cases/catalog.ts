import { randomUUID } from 'node:crypto';

import { equal, holds } from '../client/expectations.ts';
import type { Envelope } from '../client/schemas.ts';
import {
  delivered,
  it,
  type Observe,
  type ObservedCase,
  section,
  staged,
  unobservable,
} from '../suite/case.ts';
import {
  announced,
  canceledCharge,
  DISPUTE_MESSAGE,
  type Life,
  lostDispute,
  openedDispute,
  refundedCharge,
  reviewedDispute,
  wonDispute,
} from '../world/charge-lives.ts';
import { CREATED_EVENTS, withListener } from '../world/endpoint-deliveries.ts';
import { catalog, deliveredCharge, deliveredPayout, withEndpoint } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';
import { DISPUTE_DATA_CASES } from './disputes.ts';

/** The table of the section Catalog: what is emitted now, and what is not yet. */
const DISPATCHED = namesOf({
  'charge.pix': 'created emitted paid failed canceled refunded infraction charged_back',
  'charge.boleto': 'created emitted paid failed canceled refunded',
  'charge.card': 'created paid failed canceled refunded charged_back',
  'payment.pix': 'created processing failed canceled',
  'payment.ted': 'created processing failed canceled',
  'dispute.pix': 'opened message won lost',
});
const NOT_DISPATCHED = namesOf({
  'charge.pix': 'expired',
  'charge.boleto': 'expired',
  'charge.card': 'authorized',
  'payment.pix': 'completed',
  'payment.ted': 'completed',
});
const EVENTS = [...DISPATCHED, ...NOT_DISPATCHED];

function namesOf(actions: Readonly<Record<string, string>>): string[] {
  return Object.entries(actions).flatMap(([group, list]) =>
    list.split(' ').map((action) => `${group}.${action}`),
  );
}

/** Which combinations have a meaning. */
const METHODS = {
  pix: ['charge', 'payment', 'dispute'],
  boleto: ['charge'],
  card: ['charge'],
  ted: ['payment'],
};
const RESOURCES = {
  charge: 'in: charge',
  payment: 'out: payout',
  dispute: 'Pix dispute (MED)',
} as const;

function entryCase(event: string, dispatched: boolean): ObservedCase {
  const [resource, method, action] = event.split('.');
  const shown = dispatched ? 'yes' : 'no';
  return it(event, `\`${event}\`: dispatched ${shown}`, async (w) => {
    const entry = (await catalog(w)).find((one) => one.event === event);
    holds(entry !== undefined, 'it is in the catalog', event);
    equal(
      { ...entry, description: '' },
      { event, resource, method, action, description: '', dispatched },
      'it',
    );
  });
}

export const EVENT_NAME_CASES = section('event-names', [
  it('format', 'Format `<resource>.<method>.<action>`', async (w) => {
    for (const { event, resource, method, action } of await catalog(w)) {
      equal(event, `${resource}.${method}.${action}`, 'event');
    }
  }),
  ...['charge.paid', 'payment.completed', 'dispute.won'].map((name) =>
    it(`generic.${name}`, `There is no generic name such as \`${name}\``, async (w) => {
      holds(!(await catalog(w)).some(({ event }) => event === name), 'not in the catalog', name);
      refused(await w.own.endpoints.post({ events: [name] }), 422);
    }),
  ),
  ...[
    'charge.ted.paid',
    'payment.boleto.created',
    'dispute.card.opened',
    'charge.card.emitted',
  ].map((name) =>
    it(`meaningless.${name}`, `Only meaningful combinations exist: no \`${name}\``, async (w) => {
      holds(!(await catalog(w)).some(({ event }) => event === name), 'not in the catalog', name);
    }),
  ),
  it('outside', 'Subscribing to a name outside the catalog is refused with `422`', async (w) => {
    const url = `${w.hookBase}/${randomUUID()}`;
    refused(await w.own.endpoints.post({ url, events: ['charge.pix.settled'] }), 422);
    const urls = (await w.own.endpoints.list()).map((one) => one.url);
    holds(!urls.includes(url), 'nothing registered', url);
  }),
  ...Object.entries(RESOURCES).map(([resource, meaning]) =>
    it(`resource.${resource}`, `Resource \`${resource}\`: ${meaning}`, async (w) => {
      const own = (await catalog(w)).filter((entry) => entry.resource === resource);
      const documented = EVENTS.filter((event) => event.startsWith(`${resource}.`));
      holds(own.length >= documented.length, 'its events', own.length);
    }),
  ),
  ...Object.entries(METHODS).map(([method, resources]) =>
    it(`method.${method}`, `Method \`${method}\`: ${resources.join(', ')}`, async (w) => {
      const own = (await catalog(w)).filter((entry) => entry.method === method);
      const found = [...new Set(own.map(({ resource }) => resource))];
      equal(found.toSorted(), resources.toSorted(), 'its resources');
    }),
  ),
  delivered.funds(
    'payment-is-payout',
    '`payment.*` describe the resource of `/v1/payouts`',
    async (w) => {
      const { payout, deliveries } = await deliveredPayout(w);
      for (const { envelope } of deliveries.values()) {
        equal(envelope.data['id'], payout.id, 'data.id');
      }
    },
  ),
]);

/** Of an event: its meaning, the charge that it is about, the status in its data, and what it needs. */
type Emission = readonly [string, (w: World) => Promise<Life>, string, Observe?];

/** Events that only a dashboard or a payer's bank brings about; the first does not even need a payer. */
const EMISSIONS: Readonly<Record<string, Emission>> = {
  'charge.pix.canceled': ['canceled before payment', canceledCharge, 'canceled', it.admin.receiver],
  'charge.pix.refunded': ['amount returned to payer', refundedCharge, 'refunded'],
  'charge.pix.infraction': ['MED infraction opened; outcome open', openedDispute, 'infraction'],
  'charge.pix.charged_back': ['return ordered by the MED', lostDispute, 'charged_back'],
  'dispute.pix.opened': ['dispute opened; amount blocked awaiting defense', openedDispute, 'open'],
  'dispute.pix.message': [
    'platform answered in the dispute chat; text in `data.message`',
    reviewedDispute,
    'under_review',
  ],
  'dispute.pix.won': ['MED denied; blocked amount returned to balance', wonDispute, 'won'],
  'dispute.pix.lost': ['MED accepted; amount returned to payer', lostDispute, 'lost'],
};

type Check = (data: Envelope['data'], w: World) => Promise<void> | void;

/** What the meaning of an event says beyond the status. */
const MEANINGS: Readonly<Record<string, Check>> = {
  'dispute.pix.opened': async ({ amount }, w) => {
    const { before, blocked } = await openedDispute(w);
    equal(before.available - blocked.available, amount, 'what left the available balance');
  },
  'dispute.pix.message': ({ message }) => equal(message, DISPUTE_MESSAGE, 'data.message'),
  'dispute.pix.won': async ({ amount }, w) => {
    const { blocked, after } = await wonDispute(w);
    equal(after.available - blocked.available, amount, 'what came back to the balance');
  },
  'dispute.pix.lost': async ({ amount }, w) => {
    const { before, merchant } = await lostDispute(w);
    // Read anew: while the block stood, the balance showed the same.
    const { available } = await merchant.balance();
    equal(before.available - available, amount, 'what left the balance for good');
  },
};

function emittedCase([event, emission]: readonly [string, Emission]): ObservedCase {
  const [meaning, life, status, observe = staged.receiver] = emission;
  return observe(`${event}.emitted`, `\`${event}\` is emitted: ${meaning}`, async (w) => {
    const { envelope } = await announced(w, await life(w), event);
    equal(envelope.data['status'], status, 'data.status');
    await MEANINGS[event]?.(envelope.data, w);
  });
}

function canSubscribeTo(w: World, names: string[]): Promise<void> {
  return withEndpoint(w, { events: names }, ({ events }) =>
    equal(events.toSorted(), names.toSorted(), 'events'),
  );
}

export const CATALOG_CASES = section('catalog', [
  ...DISPATCHED.map((event) => entryCase(event, true)),
  ...NOT_DISPATCHED.map((event) => entryCase(event, false)),
  it('subscribable', 'an event that is not emitted can be subscribed to', (w) =>
    canSubscribeTo(w, NOT_DISPATCHED),
  ),
  it('all-subscribable', 'every event of the catalog can be subscribed to', (w) =>
    canSubscribeTo(w, EVENTS),
  ),
  ...Object.entries(EMISSIONS).map(emittedCase),
  unobservable(
    'other-methods',
    'events of boleto, card and ted are emitted',
    'v1 creates nothing but Pix, so none of them can happen',
  ),
  delivered(
    'created-and-emitted',
    '`created` and `emitted` are both emitted at creation',
    async (w) => {
      const { deliveries } = await deliveredCharge(w);
      for (const event of CREATED_EVENTS) {
        holds(deliveries.has(event), event, [...deliveries.keys()]);
      }
    },
  ),
  delivered('emitted', '`charge.pix.emitted`: copy-and-paste available', async (w) => {
    const { deliveries } = await deliveredCharge(w);
    const data = deliveries.get('charge.pix.emitted')?.envelope.data as {
      pix: { br_code: string | null };
    };
    holds(Boolean(data.pix.br_code), 'data.pix.br_code', data.pix);
  }),
  delivered('paid', '`charge.pix.paid`: Pix settled', async (w) => {
    const { deliveries } = await deliveredCharge(w);
    equal(deliveries.get('charge.pix.paid')?.envelope.data['status'], 'paid', 'data.status');
  }),
  it.receiver('two-deliveries', 'Subscribing to both gives two deliveries', (w) =>
    withListener(w, { events: CREATED_EVENTS }, async ({ charges }, hook) => {
      const { id } = await charges.create();
      const deliveries = await hook.expectEvents(CREATED_EVENTS);
      for (const { envelope } of deliveries.values()) equal(envelope.data['id'], id, 'data.id');
    }),
  ),
  it('card-no-emitted', 'Card has no `emitted` event', async (w) => {
    const names = (await catalog(w)).map(({ event }) => event);
    holds(!names.includes('charge.card.emitted'), 'not in the catalog', 'charge.card.emitted');
    holds(names.includes('charge.card.created'), 'charge.card.created instead', names);
  }),
  ...DISPUTE_DATA_CASES,
]);
