import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  chromium as playwright,
  type Locator,
  type Page,
  type Route,
} from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  aCharge,
  aSend,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** Kept for people to look at; git ignores the folder. */
const ARTEFACTS = path.resolve('test-artifacts');
/** The machine may be busy. */
const TIMEOUT_MS = 90_000;

let database: TestDatabase;
let simulator: TestSimulator;
let browser: Browser;
let page: Page;
/** What went wrong without stopping the page, and every address that it asked for. */
const complaints: string[] = [];
const addresses: string[] = [];

beforeAll(async () => {
  mkdirSync(ARTEFACTS, { recursive: true });
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-zygote'],
  });
  page = await browser.newPage({ viewport: { width: 1600, height: 1100 } });
  page.setDefaultTimeout(TIMEOUT_MS);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => addresses.push(request.url()));
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function row(id: string): Locator {
  return page.locator(`tr[data-id="${id}"]`);
}

test(
  'one click each pays a charge, returns, disputes, decides, sends and moves the clock',
  async () => {
    const { txid } = aCharge();
    await simulator.client().issueCharge(aCharge({ txid }));
    const rules = [{ operation: 'settlePayout', fault: 'hang' }];
    await simulator.call('PUT', '/control/faults', { rules });
    const send = aSend();
    await simulator.client().sendPayout(send);
    await page.goto(simulator.url);

    await row(txid).getByRole('button', { name: 'Pay', exact: true }).click();
    await row(txid).getByText('CONCLUIDA').waitFor();
    const charge = await simulator.client().getCharge(txid);
    expect(charge).toMatchObject({ kind: 'found', value: { status: 'settled' } });
    await page.screenshot({ path: path.join(ARTEFACTS, 'simulator-page.png') });

    const { body } = await simulator.call('GET', '/control/state');
    const [pix] = body['pix'] as { end_to_end_id: string }[];
    const received = row(pix?.end_to_end_id ?? '');
    const back = received.locator('form', { hasText: 'Return' });
    await back.getByLabel('amount').fill('2,50');
    await back.getByRole('button').click();
    await received.getByText('R$ 2.50 ORIGINAL').waitFor();
    await received.getByRole('button', { name: 'Dispute' }).click();
    await page.getByRole('button', { name: 'Lost' }).click();
    await page.getByRole('cell', { name: 'ACEITA' }).waitFor();

    const order = row((await sendState(send.idEnvio)).end_to_end_id);
    await order.getByRole('button', { name: 'Settle' }).click();
    await order.getByText('REALIZADO').waitFor();
    await page.getByRole('button', { name: '+25 h' }).click();
    await page.getByText('90000 s off').waitFor();
    await page.getByRole('button', { name: 'Clear faults' }).click();
    await page.getByText('Faults (none)').waitFor();
    await page.screenshot({
      path: path.join(ARTEFACTS, 'simulator-page-used.png'),
      fullPage: true,
    });
  },
  TIMEOUT_MS,
);

test(
  'a refusal of the control API is shown',
  async () => {
    const { txid } = aCharge();
    await simulator.client().issueCharge(aCharge({ txid, expiresInSeconds: 60 }));
    await simulator.call('POST', '/control/clock', { advance_seconds: 61 });
    await page.goto(simulator.url);
    await row(txid).getByText('ATIVA (expired)').waitFor();
    await row(txid).getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByRole('status').getByText('CONFLICT').waitFor();
    await row(txid).getByRole('button', { name: 'Pay late' }).click();
    await row(txid).getByText('CONCLUIDA').waitFor();
    // A refused call is written to the console by the browser itself.
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
    const origins = addresses.filter((address) => !address.startsWith('data:'));
    expect(new Set(origins.map((address) => new URL(address).origin))).toEqual(
      new Set([new URL(simulator.url).origin]),
    );
  },
  TIMEOUT_MS,
);

test(
  'what lies outside the lists can be done too: tariff, balance, other ways out, contradictions, any call at all',
  async () => {
    await simulator.call('DELETE', '/control/faults');
    await page.goto(simulator.url);
    const account = page.locator('#account');
    const adjust = account.locator('form', { hasText: 'Adjust balance' });
    const before = Number((await readState())['balance']);
    await adjust.getByRole('textbox').fill('-2,50');
    await adjust.getByRole('button').click();
    await page.getByText('"amount":-250').waitFor();
    expect((await readState())['balance']).toBe(before - 250);
    const foreign = account.locator('form', { hasText: 'Foreign order' });
    await foreign.getByLabel('amount').fill('1');
    await foreign.getByLabel('idEnvio').fill('another1');
    await foreign.getByRole('button').click();
    await page.getByRole('cell', { name: 'another1' }).waitFor();
    const { end_to_end_id } = await sendState('another1');
    await row(end_to_end_id).getByRole('button', { name: 'Contradict' }).click();
    await row(end_to_end_id).getByText('NAO_REALIZADO').waitFor();

    await page.getByText('Every call of the control API').click();
    const tariff = page.locator('aside form', { hasText: 'PUT /control/tariff' });
    await tariff.getByRole('textbox').fill('0.01');
    await tariff.getByRole('button').click();
    await page.getByText('/control/tariff: 200').waitFor();
    const { txid } = aCharge();
    await simulator.client().issueCharge(aCharge({ txid }));
    const pay = page.locator('aside form', { hasText: 'POST /control/charges/:txid/pay' });
    await pay.getByLabel('txid').fill(txid);
    await pay.getByLabel('notices').fill('2');
    await pay.getByRole('button').click();
    await row(txid).getByText('CONCLUIDA').waitFor();
    const [pix] = (await readState())['pix'] as object[];
    expect(pix).toMatchObject({ txid, tariff: 1 });
  },
  TIMEOUT_MS,
);

test(
  'what is written while the refresh of a call is under way is kept',
  async () => {
    await page.goto(simulator.url);
    const account = page.locator('#account');
    const adjust = account.locator('form', { hasText: 'Adjust balance' });
    const amount = account.locator('form', { hasText: 'Foreign order' }).getByLabel('amount');
    const writeBeforeTheAnswer = async (route: Route): Promise<void> => {
      await amount.fill('7');
      await route.continue();
    };
    await page.route(`${simulator.url}/`, writeBeforeTheAnswer, { times: 1 });
    await adjust.getByRole('textbox').fill('1');
    const refreshed = page.waitForResponse(`${simulator.url}/`);
    await adjust.getByRole('button').click();
    await (await refreshed).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
    expect(await amount.inputValue()).toBe('7');
  },
  TIMEOUT_MS,
);

test(
  'refreshes that fail are shown, and do not end those to come',
  async () => {
    await page.goto(simulator.url);
    const alert = page.getByRole('alert');
    await alert.waitFor({ state: 'hidden' });
    const faults = {
      'answered 500': { status: 500, body: '{"code":"INTERNAL_ERROR"}' },
      'something else': { status: 200, contentType: 'text/html', body: '<p>Hello</p>' },
      'trying again': null,
    };
    for (const [words, answer] of Object.entries(faults)) {
      const address = `${simulator.url}/`;
      await page.route(address, (route) => (answer ? route.fulfill(answer) : route.abort()));
      await alert.getByText(words).waitFor();
      await page.unroute(address);
      await alert.waitFor({ state: 'hidden' });
      const { txid } = aCharge();
      await simulator.client().issueCharge(aCharge({ txid }));
      await row(txid).waitFor();
    }
  },
  TIMEOUT_MS,
);

async function readState(): Promise<Record<string, unknown>> {
  return (await simulator.call('GET', '/control/state')).body;
}

async function sendState(idEnvio: string): Promise<{ end_to_end_id: string }> {
  const { body } = await simulator.call('GET', '/control/state');
  const sends = body['sends'] as { id_envio: string; end_to_end_id: string }[];
  const found = sends.find((send) => send.id_envio === idEnvio);
  expect(found).toBeDefined();
  return found as { end_to_end_id: string };
}
