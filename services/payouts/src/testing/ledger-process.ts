import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { HoldState } from '@pixmesh/contracts/internal/holds';
import type { CallerClaims } from '@pixmesh/contracts/internal/service-token';
import type { SignToken } from '@pixmesh/http/service-token';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/simulator-process';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { aCaller } from '@pixmesh/testkit/test-tokens';
import { z } from 'zod';

import { startLedgerOrders } from './ledger-orders.ts';

/** A machine that is busy with other suites boots slowly; still within the limit of a hook. */
const BOOT_TIMEOUT_MS = 45_000;
/** Holds in one page of the ledger's own list, at most. */
const PAGE_LIMIT = 1_000;

const Hold = z.object({
  hold_id: z.uuid(),
  resource_id: z.uuid(),
  amount: z.int(),
  fee: z.int(),
  state: HoldState,
});
type Hold = z.output<typeof Hold>;
const HoldPage = z.object({ data: z.array(Hold), has_more: z.boolean() });
const Balance = z.object({ available: z.int() });

type LedgerOptions = {
  topicPrefix: string;
  publicKeys: object;
  signAsGateway: SignToken;
  signAsPayouts: SignToken;
};

/** The ledger as a process of its own on a database of its own: another service, a black box. */
export async function startLedgerProcess(options: LedgerOptions) {
  const database = await createTestDatabase('ledger');
  const { child, url } = await boot(options, database.url);
  const orders = await startLedgerOrders(options.topicPrefix, (command_ids) =>
    ask('POST /internal/journals/lookup', null, { command_ids }),
  );
  return {
    url,
    release: orders.release,
    /** Money that can be spent when this returns. */
    fund: async (accountId: string, cents: number): Promise<void> => {
      if (cents > 0) await orders.credit(accountId, cents);
    },
    available: async (accountId: string): Promise<number> => {
      const caller = aCaller({ account_id: accountId as CallerClaims['account_id'] });
      return Balance.parse(await ask('GET /v1/balance', caller)).available;
    },
    /** Holds that were taken for a payout, whatever became of them. */
    holdsOf: async (payoutId: string): Promise<Hold[]> => {
      const found: Hold[] = [];
      for (let after = ''; ;) {
        const page = HoldPage.parse(
          await ask(`GET /internal/holds?limit=${PAGE_LIMIT}${after}`, null),
        );
        found.push(...page.data.filter((hold) => hold.resource_id === payoutId));
        if (!page.has_more) return found;
        after = `&starting_after=${page.data.at(-1)?.hold_id}`;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await orders[Symbol.asyncDispose]();
      await stop(child);
      await database[Symbol.asyncDispose]();
    },
  };

  async function ask(route: string, caller: CallerClaims | null, body?: object): Promise<unknown> {
    const [method = 'GET', path = ''] = route.split(' ');
    const sign = caller === null ? options.signAsPayouts : options.signAsGateway;
    const headers = {
      'content-type': 'application/json',
      [INTERNAL_HEADERS.token]: await sign('ledger', caller),
    };
    const response = await fetch(url + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the ledger answered ${response.status} for ${path}`);
    return await response.json();
  }
}

async function boot(
  options: LedgerOptions,
  databaseUrl: string,
): Promise<{ child: ChildProcess; url: string }> {
  const [port = 0, internalPort = 0] = await freePorts(2);
  const child = spawn(process.execPath, ['services/ledger/src/main.ts'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      LOG_LEVEL: 'error',
      DATABASE_URL: databaseUrl,
      KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: options.topicPrefix,
      SCHEMA_REGISTRY_URL: testInfra().registryUrl,
      SERVICE_TOKEN_PUBLIC_KEYS: JSON.stringify(options.publicKeys),
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
    },
  });
  await untilReady(internalPort).catch(async (error: unknown) => {
    await stop(child);
    throw error;
  });
  return { child, url: `http://127.0.0.1:${port}` };
}

async function untilReady(internalPort: number): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${internalPort}/readyz`);
    if (!response.ok) throw new Error('the ledger is not ready');
  }, BOOT_TIMEOUT_MS);
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
