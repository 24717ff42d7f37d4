import { equal, holds } from '../client/expectations.ts';
import { delivered, it, patient, section, unobservable } from '../suite/case.ts';
import { CREATED_EVENTS } from '../world/endpoint-deliveries.ts';
import { deliveredCharge, deliveryOf, freshMerchant } from '../world/fixtures.ts';
import type { Delivery, Hook } from '../world/receiver.ts';
import { until } from '../world/until.ts';
import { shared, type World } from '../world/world.ts';

const MINUTE_MS = 60_000;
const RESPONSE_MS = 10_000;
/** Clocks of two machines, and the work of a busy one. */
const TOLERANCE_MS = 12_000;
const SLOW_ANSWER_MS = 8_000;

/** The first two attempts of one delivery whose first answer was not as it should be. */
async function repeated(w: World, behaviour: object): Promise<[Delivery, Delivery]> {
  const hook = await deliverTo(w, { ...behaviour, times: 1 });
  return await until(
    async () => {
      const [first, second] = await hook.deliveries();
      holds(first !== undefined && second !== undefined, 'a second attempt', 'none');
      return [first as Delivery, second as Delivery];
    },
    RESPONSE_MS + MINUTE_MS + TOLERANCE_MS,
  );
}

/** A hook that behaves in this way, and to which one delivery is on its way. */
async function deliverTo(w: World, behaviour: object): Promise<Hook> {
  const hook = w.receiver.hook();
  const merchant = await freshMerchant(w);
  await hook.behave(behaviour);
  await merchant.endpoints.create({ url: hook.url, events: ['charge.pix.created'] });
  await merchant.charges.create();
  return hook;
}

function gapMs([first, second]: readonly [Delivery, Delivery]): number {
  return second.receivedAtMs - first.receivedAtMs;
}

function isBetween(got: number, [least, most]: readonly [number, number]): void {
  holds(got >= least && got <= most, `between ${least} and ${most} ms`, got);
}

/** Answered with 500 once; what several cases check. */
const afterFailure = shared((w) => repeated(w, { status: 500 }));

/** Answered with a 2xx other than 200, and left alone for longer than a first repetition takes. */
async function answeredWith(w: World, behaviour: object): Promise<Delivery[]> {
  const hook = await deliverTo(w, behaviour);
  await afterFailure(w);
  return await until(async () => {
    const deliveries = await hook.deliveries();
    holds(deliveries.length > 0, 'a delivery', deliveries.length);
    const ageMs = Date.now() - (deliveries[0]?.receivedAtMs ?? 0);
    holds(ageMs > MINUTE_MS + 3_000, 'longer than a minute ago', ageMs);
    return deliveries;
  }, MINUTE_MS);
}

export const RETRY_CASES = section('retries', [
  ...[201, 204, 299].map((status) =>
    patient(
      `any-2xx.${status}`,
      `any \`2xx\` is a success: no repetition after ${status}`,
      async (w) => {
        equal((await answeredWith(w, { status })).length, 1, 'attempts');
      },
    ),
  ),
  patient('slow-2xx', 'a `2xx` within 10 seconds is a success', async (w) => {
    equal((await answeredWith(w, { delay_ms: SLOW_ANSWER_MS })).length, 1, 'attempts');
  }),
  patient('failure.500', 'anything else is a failure and repeated (500)', async (w) => {
    await afterFailure(w);
  }),
  patient('failure.404', 'anything else is a failure and repeated (404)', async (w) => {
    await repeated(w, { status: 404 });
  }),
  patient('failure.302', 'anything else is a failure and repeated (302)', async (w) => {
    await repeated(w, { redirect: `${w.hookBase}/elsewhere` });
  }),
  patient('timeout', 'a timeout (10 seconds) is a failure', async (w) => {
    const attempts = await repeated(w, { hang: true });
    const most = RESPONSE_MS + MINUTE_MS + TOLERANCE_MS;
    isBetween(gapMs(attempts), [RESPONSE_MS + MINUTE_MS - 1_000, most]);
  }),
  patient('one-minute', 'On failure the delivery is repeated after 1 minute', async (w) =>
    isBetween(gapMs(await afterFailure(w)), [MINUTE_MS - 1_000, MINUTE_MS + TOLERANCE_MS]),
  ),
  patient('same-id', 'the delivery id is identical on every retry', async (w) => {
    const [first, second] = await afterFailure(w);
    equal(second.envelope.id, first.envelope.id, 'envelope id');
    const [one, other] = [first, second].map((each) => each.headers['x-webhook-delivery']);
    equal(other, one, 'X-Webhook-Delivery');
  }),
  patient('same-body', 'it is the same delivery: the same bytes', async (w) => {
    const [first, second] = await afterFailure(w);
    equal(second.bytes.toString('utf8'), first.bytes.toString('utf8'), 'the body');
  }),
  unobservable(
    'connection-error',
    'a connection error is a failure',
    'the development receiver is reachable all the time; a timeout shows the same path',
  ),
  unobservable(
    'schedule',
    'then after 5 minutes, 15 minutes, 1 hour, 3 hours, 6 hours and 12 hours',
    'takes 22 hours; the first repetition is seen by retries.one-minute',
  ),
  unobservable('attempts', '8 attempts in total over about 22 hours', 'takes 22 hours'),
  unobservable(
    'stays-failed',
    'After that the delivery stays failed and can be re-sent from the dashboard',
    'takes 22 hours',
  ),
  it.receiver(
    'parallel',
    'Deliveries go out in parallel: a slow one holds up no other',
    async (w) => {
      const [slow, quick] = [w.receiver.hook(), w.receiver.hook()];
      await slow.behave({ delay_ms: SLOW_ANSWER_MS });
      const startedMs = Date.now();
      await w.own.charges.create({ webhook_url: slow.url });
      await w.own.charges.create({ webhook_url: quick.url });
      await quick.expectEvents(CREATED_EVENTS);
      const tookMs = Date.now() - startedMs;
      holds(tookMs < SLOW_ANSWER_MS, 'the other arrives while the first waits', tookMs);
    },
  ),
  unobservable(
    'order',
    'order between events is not guaranteed',
    'a freedom of the installation, not a promise',
  ),
  delivered('authoritative', 'The `status` in `data` is authoritative', async (w) => {
    const { charge, deliveries } = await deliveredCharge(w);
    const paid = deliveryOf(deliveries, 'charge.pix.paid');
    const { status } = await w.own.charges.read(charge.id);
    equal(paid.envelope.data['status'], status, 'data.status and the status of the charge');
  }),
  delivered(
    'discard',
    'repeated deliveries can be discarded by `X-Webhook-Delivery`',
    async (w) => {
      const ids = [...(await deliveredCharge(w)).deliveries.values()].map(
        ({ headers }) => headers['x-webhook-delivery'],
      );
      equal(new Set(ids).size, ids.length, 'different ids of different deliveries');
    },
  ),
  delivered('discard-by-data-id', 'or by `data.id`, which every event carries', async (w) => {
    const { charge, deliveries } = await deliveredCharge(w);
    for (const { envelope } of deliveries.values()) {
      equal(envelope.data['id'], charge.id, 'data.id');
    }
  }),
]);
