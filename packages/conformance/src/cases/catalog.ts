import type { Envelope } from '../client/schemas.ts';
import {
  type ObservedCase,
  section,
  unobservable,
  type Observe,
  it,
  staged,
  delivered,
} from '../suite/case.ts';
import { equal, holds } from '../client/expectations.ts';
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
import {
  catalog,
  createEndpoint,
  deliveredCharge,
  deliveredPayout,
  endpointUrl,
  listEndpoints,
  readBalance,
  removeEndpoint,
  withEndpoint,
} from '../world/fixtures.ts';
import { createCharge } from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';
import { DISPUTE_DATA_CASES } from './disputes.ts';

/** The table of the section Catalog: what is emitted now, and what is not yet. */
const DISPATCHED = [
  'charge.pix.created',
  'charge.pix.emitted',
  'charge.pix.paid',
  'charge.pix.failed',
  'charge.pix.canceled',
  'charge.pix.refunded',
  'charge.pix.infraction',
  'charge.pix.charged_back',
  'charge.boleto.created',
  'charge.boleto.emitted',
  'charge.boleto.paid',
  'charge.boleto.failed',
  'charge.boleto.canceled',
  'charge.boleto.refunded',
  'charge.card.created',
  'charge.card.paid',
  'charge.card.failed',
  'charge.card.canceled',
  'charge.card.refunded',
  'charge.card.charged_back',
  'payment.pix.created',
  'payment.pix.processing',
  'payment.pix.failed',
  'payment.pix.canceled',
  'payment.ted.created',
  'payment.ted.processing',
  'payment.ted.failed',
  'payment.ted.canceled',
  'dispute.pix.opened',
  'dispute.pix.message',
  'dispute.pix.won',
  'dispute.pix.lost',
] as const;
const NOT_DISPATCHED = [
  'charge.pix.expired',
  'charge.boleto.expired',
  'charge.card.authorized',
  'payment.pix.completed',
  'payment.ted.completed',
] as const;
const EVENTS: readonly string[] = [...DISPATCHED, ...NOT_DISPATCHED];

/** Which combinations have a meaning. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
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
      const body = { url: endpointUrl(w), events: [name] };
      refused(await w.own.call('POST /v1/webhooks', { body }), { status: 422 });
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
    const url = endpointUrl(w);
    const body = { url, events: ['charge.pix.settled'] };
    refused(await w.own.call('POST /v1/webhooks', { body }), { status: 422 });
    holds(!(await listEndpoints(w.own)).some((one) => one.url === url), 'nothing registered', url);
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

type Emission = {
  meaning: string;
  life: (w: World) => Promise<Life>;
  status: string;
  /** What the meaning says beyond the status. */
  check?: (data: Envelope['data'], w: World) => Promise<void> | void;
  observe?: Observe;
};

/** Events that only a dashboard or a payer's bank brings about; the first does not even need a payer. */
const EMISSIONS: Readonly<Record<string, Emission>> = {
  'charge.pix.canceled': {
    meaning: 'canceled before payment',
    life: canceledCharge,
    status: 'canceled',
    observe: it.admin.receiver,
  },
  'charge.pix.refunded': {
    meaning: 'amount returned to payer',
    life: refundedCharge,
    status: 'refunded',
  },
  'charge.pix.infraction': {
    meaning: 'MED infraction opened; outcome open',
    life: openedDispute,
    status: 'infraction',
  },
  'charge.pix.charged_back': {
    meaning: 'return ordered by the MED',
    life: lostDispute,
    status: 'charged_back',
  },
  'dispute.pix.opened': {
    meaning: 'dispute opened; amount blocked awaiting defense',
    life: openedDispute,
    status: 'open',
    check: async ({ amount }, w) => {
      const { before, blocked } = await openedDispute(w);
      equal(before.available - blocked.available, amount, 'what left the available balance');
    },
  },
  'dispute.pix.message': {
    meaning: 'platform answered in the dispute chat; text in `data.message`',
    life: reviewedDispute,
    status: 'under_review',
    check: ({ message }) => equal(message, DISPUTE_MESSAGE, 'data.message'),
  },
  'dispute.pix.won': {
    meaning: 'MED denied; blocked amount returned to balance',
    life: wonDispute,
    status: 'won',
    check: async ({ amount }, w) => {
      const { blocked, after } = await wonDispute(w);
      equal(after.available - blocked.available, amount, 'what came back to the balance');
    },
  },
  'dispute.pix.lost': {
    meaning: 'MED accepted; amount returned to payer',
    life: lostDispute,
    status: 'lost',
    check: async ({ amount }, w) => {
      const { before, merchant } = await lostDispute(w);
      // Read anew: while the block stood, the balance showed the same.
      const { available } = await readBalance(merchant);
      equal(before.available - available, amount, 'what left the balance for good');
    },
  },
};

function emittedCase([event, emission]: readonly [string, Emission]): ObservedCase {
  const { meaning, life, status, check, observe = staged.receiver } = emission;
  return observe(`${event}.emitted`, `\`${event}\` is emitted: ${meaning}`, async (w) => {
    const { envelope } = await announced(w, await life(w), event);
    equal(envelope.data['status'], status, 'data.status');
    await check?.(envelope.data, w);
  });
}

export const CATALOG_CASES = section('catalog', [
  ...DISPATCHED.map((event) => entryCase(event, true)),
  ...NOT_DISPATCHED.map((event) => entryCase(event, false)),
  it('subscribable', 'an event that is not emitted can be subscribed to', (w) =>
    withEndpoint(w, { events: [...NOT_DISPATCHED] }, ({ events }) =>
      equal(events.toSorted(), [...NOT_DISPATCHED].toSorted(), 'events'),
    ),
  ),
  it('all-subscribable', 'every event of the catalog can be subscribed to', (w) =>
    withEndpoint(w, { events: EVENTS }, ({ events }) =>
      equal(events.toSorted(), EVENTS.toSorted(), 'events'),
    ),
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
      holds(deliveries.has('charge.pix.created'), 'charge.pix.created', [...deliveries.keys()]);
      holds(deliveries.has('charge.pix.emitted'), 'charge.pix.emitted', [...deliveries.keys()]);
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
  it.receiver('two-deliveries', 'Subscribing to both gives two deliveries', async (w) => {
    const hook = w.receiver.hook();
    const events = ['charge.pix.created', 'charge.pix.emitted'];
    const merchant = w.abilities.has('admin') ? await w.admin.createAccount() : w.own;
    const endpoint = await createEndpoint(merchant, { url: hook.url, events });
    const { id } = await createCharge(merchant);
    const deliveries = await hook.expectEvents(events);
    for (const { envelope } of deliveries.values()) equal(envelope.data['id'], id, 'data.id');
    await removeEndpoint(merchant, endpoint.id);
  }),
  it('card-no-emitted', 'Card has no `emitted` event', async (w) => {
    const names = (await catalog(w)).map(({ event }) => event);
    holds(!names.includes('charge.card.emitted'), 'not in the catalog', 'charge.card.emitted');
    holds(names.includes('charge.card.created'), 'charge.card.created instead', names);
  }),
  ...DISPUTE_DATA_CASES,
]);
