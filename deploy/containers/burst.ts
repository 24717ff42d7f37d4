import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { createDemoClient, type DemoClient } from '@pixmesh/local-stack/demo/demo-client';
import { call } from '@pixmesh/local-stack/http-call';

import { containersOf, killContainer, metricsOf } from './compose-project.ts';
import { openComposeStack } from './compose-stack.ts';

/**
 * `node deploy/containers/burst.ts [--kill]`, beside a compose project with several senders: charges of one merchant
 * with webhooks at many addresses, until each event of each has arrived. Ends with 1 where it does not, or where a
 * sender had no part; with `--kill` one sender is killed as soon as it sends.
 */
const HOOKS = 30;
const CHARGES_OF_HOOK = 8;
/** `charge.pix.created` and `charge.pix.emitted`. */
const EVENTS_OF_CHARGE = 2;
const AT_ONCE = 8;
const RECEIVER_DELAY_MS = 300;
const ARRIVAL_LIMIT_MS = 180_000;
const POLL_MS = 500;
const TRIES_MAX = 20;
const SENDER = 'webhook-dispatcher-sender';
const CUSTOMER = { name: 'Maria Exemplo', email: 'maria@example.com', document: '52998224725' };

type Hook = { path: string; url: string; charges: Set<string> };

const senders = await containersOf(SENDER);
const stack = await openComposeStack();
const client = createDemoClient(stack);
const hooks = await openHooks();
const before = await attemptsOf(senders);
const creating = createCharges();
const killed = process.argv.includes('--kill') ? await killOne() : null;
await creating;
const arrived = await waitForAll();
const living = senders.filter((id) => id !== killed);
const attempts = await attemptsOf(living);
const shares = living.map((id) => [
  id.slice(0, 12),
  (attempts.get(id) ?? 0) - (before.get(id) ?? 0),
]);
console.log(
  `${arrived} events arrived; attempts by sender: ${JSON.stringify(Object.fromEntries(shares))}`,
);
if (killed !== null) console.log(`killed while it sent: ${killed.slice(0, 12)}`);
if (shares.some(([, count]) => count === 0)) fail('a sender had no part in the burst');

async function openHooks(): Promise<Hook[]> {
  const run = randomUUID();
  const hooks = Array.from({ length: HOOKS }, (_, index) => {
    const path = `/burst-${run}-${index}`;
    return {
      path,
      url: `http://shop-${index}.receiver.example.com${path}`,
      charges: new Set<string>(),
    };
  });
  for (const { path } of hooks) {
    const body = { delay_ms: RECEIVER_DELAY_MS };
    await call('PUT', `${stack.receiver_url}/behaviour${path}`, { body });
  }
  return hooks;
}

async function createCharges(): Promise<void> {
  const waiting = hooks.flatMap((hook) => Array.from({ length: CHARGES_OF_HOOK }, () => hook));
  const work = async () => {
    for (let hook = waiting.shift(); hook !== undefined; hook = waiting.shift()) {
      hook.charges.add(await createCharge(client, hook));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Again under its key where its outcome is unknown, as merchants do: a machine full of containers may answer late. */
async function createCharge(merchant: DemoClient, { url }: Hook): Promise<string> {
  const key = randomUUID();
  const body = {
    amount: 1_000,
    method: 'pix',
    customer: CUSTOMER,
    webhook_url: url,
    webhook_secret: randomUUID(),
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return (await merchant.createCharge(body, key)).id;
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await delay(POLL_MS);
    }
  }
}

/** The first sender that is seen to send. */
async function killOne(): Promise<string> {
  for (
    const deadline = Date.now() + ARRIVAL_LIMIT_MS;
    Date.now() < deadline;
    await delay(POLL_MS)
  ) {
    const now = await attemptsOf(senders);
    const sending = senders.find((id) => (now.get(id) ?? 0) > (before.get(id) ?? 0));
    if (sending === undefined) continue;
    await killContainer(sending);
    return sending;
  }
  return fail('no sender was seen to send');
}

/** Counts each event of each charge once: a delivery may come twice. */
async function waitForAll(): Promise<number> {
  const wanted = HOOKS * CHARGES_OF_HOOK * EVENTS_OF_CHARGE;
  const deadline = Date.now() + ARRIVAL_LIMIT_MS;
  for (;;) {
    const counts = await Promise.all(hooks.map(arrivedAt));
    const arrived = counts.reduce((sum, count) => sum + count, 0);
    if (arrived === wanted) return arrived;
    if (Date.now() > deadline) fail(`${arrived} of ${wanted} events arrived`);
    await delay(POLL_MS);
  }
}

async function arrivedAt({ path, charges }: Hook): Promise<number> {
  const received = await client.listReceived(path);
  const events = received.map(({ headers, body }) => {
    const { data } = JSON.parse(body) as { data: { id: string } };
    return { id: data.id, name: `${data.id} ${headers['x-webhook-event']}` };
  });
  return new Set(events.filter(({ id }) => charges.has(id)).map(({ name }) => name)).size;
}

async function attemptsOf(containers: readonly string[]): Promise<Map<string, number>> {
  const counts = containers.map(async (id): Promise<[string, number]> => {
    const lines = [...(await metricsOf(id)).matchAll(/^webhook_attempts_total\S* ([\d.]+)/gm)];
    return [id, lines.reduce((sum, [, value]) => sum + Number(value), 0)];
  });
  return new Map(await Promise.all(counts));
}

function fail(message: string): never {
  throw new Error(message);
}
