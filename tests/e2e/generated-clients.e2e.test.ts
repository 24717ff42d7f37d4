import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, test } from 'vitest';

import { startApiOfTomorrow } from '../clients/api-of-tomorrow.ts';
import {
  generatePythonShop,
  generateTypeScriptShop,
  type Shop,
} from '../clients/generate-clients.ts';
import { call, stack } from './mesh.ts';
import { aPayingMerchant } from './payout-calls.ts';

const SECRET = randomUUID();
const FUNDS_CENTS = 2_000;
const RUN_MS_MAX = 60_000;
/** The first run makes an environment for Python from the registry. */
const GENERATE_MS_MAX = 400_000;

async function run({ command, args, env }: Shop, own: Record<string, string>): Promise<string[]> {
  const { stdout } = await promisify(execFile)(command, [...args, own['COMMAND'] ?? ''], {
    env: { PATH: process.env['PATH'], ...env, WEBHOOK_SECRET: SECRET, POLL_SECONDS: '0.2', ...own },
    timeout: RUN_MS_MAX,
  });
  return stdout.trimEnd().split('\n');
}

describe.each([
  ['TypeScript', generateTypeScriptShop],
  ['Python', generatePythonShop],
])('a client in %s, generated from the served document,', (_language, generate) => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await generate((await call(`${stack().gateway_url}/openapi.json`)).body);
  }, GENERATE_MS_MAX);

  test('runs the quick start and verifies its deliveries', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const printed = await run(shop, {
      BASE_URL: stack().gateway_url,
      API_KEY: merchant.key,
      SIMULATOR_URL: stack().simulator_url,
      RECEIVER_URL: stack().receiver_url,
      WEBHOOK_PATH: `/${randomUUID()}`,
    });
    expect(printed.filter((line) => !/\.(created|emitted) /.test(line))).toEqual([
      'charge is pending: 000201',
      'charge is paid',
      expect.stringMatching(/^newest paid is it: true, more: true$/i),
      'payout is processing',
      'refused: 400 AMOUNT_BELOW_MINIMUM',
      'charge.pix.paid of a charge: paid',
    ]);
  });

  test('takes statuses, events and codes that it does not know', async () => {
    await using api = await startApiOfTomorrow(SECRET);
    const printed = await run(shop, {
      BASE_URL: api.url,
      API_KEY: 'any',
      RECEIVER_URL: api.url,
      WEBHOOK_PATH: '/any',
      COMMAND: 'tomorrow',
    });
    expect(printed).toEqual([
      'charge is unknown (partially_paid), by boleto',
      'payouts are scheduled',
      'account is frozen, expired',
      'catalog has charge.pix.partially_paid',
      'refused: 403 KEY_FROZEN',
      'charge.pix.partially_paid of a charge: unknown (partially_paid)',
      'payment.pix.scheduled of a payout: scheduled',
      'dispute.pix.appealed of a dispute: regret',
      'mandate.pix.signed: taken and left alone',
      'forged',
    ]);
  });
});
