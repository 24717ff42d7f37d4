import { spawnSync } from 'node:child_process';

import { startTestProvider, type TestProvider } from '@pixmesh/acquirer/testing/test-provider';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { PayoutsConfig } from '#config.ts';
import { startPayouts } from '#service.ts';
import {
  type aCreator,
  createPayoutsEnvironment,
  type PayoutsEnvironment,
} from '#test/payouts-environment.ts';
import { type PayoutsProcess, startPayoutsProcess } from '#test/payouts-process.ts';

let mesh: PayoutsEnvironment;

beforeAll(async () => {
  mesh = await createPayoutsEnvironment();
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
});

type Creator = ReturnType<typeof aCreator>;

const ROUTE = 'POST /v1/payouts';
const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };
/** Long enough that no job comes in between; short enough that it comes. */
const PATIENT = { READ_BACK_INTENT_MS: '600000', READ_BACK_INTENT_MS_MAX: '600000' };
const EAGER = { READ_BACK_INTENT_MS: '50', READ_BACK_INTENT_MS_MAX: '100' };

async function expectOnePayout(id: string, accountId: string) {
  const row = await mesh.row(id);
  expect(row?.status).toBe('processing');
  expect(await mesh.ledger.holdsOf(id)).toMatchObject([{ hold_id: row?.holdId, state: 'open' }]);
  expect(await mesh.ledger.available(accountId)).toBe(4_000);
  expect((await mesh.eventsOf(id)).map(({ type }) => type)).toEqual(['payment.pix.created']);
}

/** In this process; only the start's own bound ends its wait for the acquirer. */
async function startPayoutsAt({ url }: TestProvider) {
  const acquirer = { ACQUIRER_URL: url, ACQUIRER_TIMEOUT_MS: '60000' };
  return await startPayouts(PayoutsConfig.parse({ ...mesh.variables, ...acquirer }));
}

/** The process that is there, or one that takes the place of the dead one. */
let running: PayoutsProcess | null = null;
async function theProcess(): Promise<PayoutsProcess> {
  if (running !== null) return running;
  running = await startPayoutsProcess(mesh, { ...PATIENT, LOG_LEVEL: 'debug' });
  void running.ended.then(() => (running = null));
  return running;
}

/** A call that the process does not survive. */
async function dieAt(at: string, call: { caller: Creator; process: PayoutsProcess }) {
  await call.process.arm({ [at]: 'kill' });
  await expect(call.process.request(call.caller, ROUTE, body)).rejects.toThrow('fetch failed');
  expect(await call.process.ended).toBe('SIGKILL');
}

const PLACES = [
  ['payouts.create.before-insert', false],
  ['payouts.create.after-intent', true],
  ['payouts.create.after-hold', true],
  ['payouts.create.after-commit', true],
] as const;

test.each(sampled(PLACES, 1))(
  'killed at %s, a restart and the same key come to one payout',
  async (at, replayed) => {
    const caller = await mesh.fundedCreator(5_000);
    await dieAt(at, { caller, process: await theProcess() });
    const answer = await (await theProcess()).request(caller, ROUTE, body);
    expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([201, replayed]);
    await expectOnePayout(caller.creation_id, caller.account_id);
  },
);

test('no name, document, key or secret of anybody reaches the log, whatever happens', async () => {
  const personal = {
    pix_key_type: 'phone',
    pix_key: '(11) 97777-6666',
    recipient_name: 'Canario da Silva',
    recipient_document: '529.982.247-25',
    reference: 'canary-reference',
    webhook_url: 'http://canary.receiver.example.com/hook',
    webhook_secret: 'whsec_canary',
  };
  const caller = await mesh.fundedCreator(5_000);
  const payouts = await theProcess();
  const create = (changes: object = {}) =>
    payouts.request(caller, ROUTE, { ...body, ...personal, ...changes });
  expect((await create({ pix_key: 'nonsense' })).status).toBe(400);
  expect((await create({ amount: 6_000 })).status).toBe(400);
  await payouts.arm({ 'payouts.create.after-intent': 'error' });
  expect((await create()).status).toBe(500);
  mesh.network.trouble('PUT', /holds/, 'lost');
  expect((await create()).status).toBe(500);
  expect((await create()).status).toBe(201);
  expect(await payouts.stop()).toBe(0);
  const logged = payouts.logged();
  expect(logged).toContain('request failed');
  for (const secret of ['97777', 'Canario', '529982247', '529.982', 'canary', 'whsec']) {
    expect(logged).not.toContain(secret);
  }
});

test('the restarted job ends what a killed call left behind, by itself: finished where the hold stands, else dropped', async () => {
  const held = await mesh.fundedCreator(5_000);
  const first = await startPayoutsProcess(mesh, EAGER);
  await dieAt('payouts.create.after-hold', { caller: held, process: first });
  const second = await startPayoutsProcess(mesh, EAGER);
  await eventually(() => expectOnePayout(held.creation_id, held.account_id));
  const read = await second.request(held, `GET /v1/payouts/${held.creation_id}`);
  expect([read.status, read.body.status]).toEqual([200, 'processing']);

  const unheld = await mesh.fundedCreator(5_000);
  await dieAt('payouts.create.after-intent', { caller: unheld, process: second });
  // A ledger that is away is waited for.
  mesh.network.trouble('POST', /\/void$/, 'lost', 'lost', 'answer_lost');
  await using third = await startPayoutsProcess(mesh, EAGER);
  await eventually(async () => expect(await mesh.row(unheld.creation_id)).toBeNull());
  expect(await mesh.ledger.available(unheld.account_id)).toBe(5_000);
  const answer = await third.request(unheld, ROUTE, body);
  expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([201, false]);
});

test('a stop in order answers what has begun and ends with 0', async () => {
  const caller = await mesh.fundedCreator(5_000);
  const payouts = await startPayoutsProcess(mesh, PATIENT);
  const way = Promise.withResolvers<void>();
  mesh.network.trouble('PUT', /holds/, way.promise);
  const answering = payouts.request(caller, ROUTE, body);
  await eventually(async () => expect(await mesh.row(caller.creation_id)).not.toBeNull());
  const stopping = payouts.stop();
  way.resolve();
  expect((await answering).status).toBe(201);
  expect(await stopping).toBe(0);
});

test('a service that is ready has a token of the acquirer', async () => {
  await using provider = await startTestProvider();
  await using _service = await startPayoutsAt(provider);
  expect(provider.tokensIssued).toBe(1);
});

test('a service starts beside an acquirer that gives no answer', async () => {
  await using provider = await startTestProvider();
  let asked = 0;
  provider.answerToken = () => void (asked += 1);
  await using service = await startPayoutsAt(provider);
  expect(service.ports.http).toBeGreaterThan(0);
  expect(asked).toBe(1);
});

test('a wrong variable ends the process with one line that names it', () => {
  const boot = spawnSync(process.execPath, ['services/payouts/src/main.ts'], {
    env: { PATH: process.env['PATH'], ...mesh.variables, SEND_SLOTS: 'many' },
    encoding: 'utf8',
  });
  expect(boot.status).toBe(1);
  expect(boot.stderr).toBe('payouts: SEND_SLOTS: expected a number from 1 to 64\n');
});
