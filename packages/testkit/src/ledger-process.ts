import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import type { HoldState } from '@pixmesh/contracts/internal/holds';
import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';

import { bootProcess } from './boot-process.ts';
import { callOwner } from './mesh-calls.ts';
import { hasEnded } from './owned-process.ts';
import { processEnvironment } from './process-environment.ts';
import { createTestDatabase } from './test-database.ts';
import { testIdentityFolder, testInfra } from './test-infra.ts';
import { aCaller } from './test-callers.ts';

/** Holds in one page of the ledger's own list, at most. */
const PAGE_LIMIT = 1_000;

/** A hold as the ledger lists it; amounts in cents. */
type ListedHold = {
  hold_id: string;
  resource_id: string;
  amount: number;
  fee: number;
  state: HoldState;
};

type LedgerOptions = { topicPrefix: string };

export type LedgerProcess = AsyncDisposable & {
  readonly url: string;
  /** A call of its HTTP surface; answers the parsed body. */
  ask(route: string, caller: TenantClaims | null, body?: object): Promise<unknown>;
  balance(accountId: string): Promise<{ available: number; pending: number; blocked: number }>;
  available(accountId: string): Promise<number>;
  /** Holds that were taken for a payout or refund, whatever became of them. */
  holdsOf(resourceId: string): Promise<ListedHold[]>;
};

/** The ledger as a process of its own on a database of its own: another service, a black box. */
export async function startLedgerProcess(options: LedgerOptions): Promise<LedgerProcess> {
  const database = await createTestDatabase('ledger');
  const { child, url } = await boot(options, database.url);
  return {
    url,
    ask,
    balance,
    available: async (accountId) => (await balance(accountId)).available,
    holdsOf: async (resourceId) => {
      const found: ListedHold[] = [];
      for (let after = ''; ;) {
        const page = (await ask(`GET /internal/holds?limit=${PAGE_LIMIT}${after}`, null)) as {
          data: ListedHold[];
          has_more: boolean;
        };
        found.push(...page.data.filter((hold) => hold.resource_id === resourceId));
        if (!page.has_more) return found;
        after = `&starting_after=${page.data.at(-1)?.hold_id}`;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await stop(child);
      await database[Symbol.asyncDispose]();
    },
  };

  async function balance(accountId: string) {
    const caller = aCaller({ account_id: accountId as TenantClaims['account_id'] });
    type Balance = Awaited<ReturnType<LedgerProcess['balance']>>;
    return (await ask('GET /v1/balance', caller)) as Balance;
  }

  async function ask(route: string, caller: TenantClaims | null, body?: object): Promise<unknown> {
    const response = await callOwner({ owner: 'ledger', url }, { route, caller, body });
    if (!response.ok) throw new Error(`the ledger answered ${response.status} for ${route}`);
    return await response.json();
  }
}

async function boot(
  options: LedgerOptions,
  databaseUrl: string,
): Promise<{ child: ChildProcess; url: string }> {
  const { child, ports } = await bootProcess(2, ([internalPort, port]) =>
    spawn(process.execPath, ['services/ledger/src/main.ts'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...processEnvironment(),
        NODE_ENV: 'test',
        LOG_LEVEL: 'error',
        DATABASE_URL: databaseUrl,
        MESH_TLS_DIR: testIdentityFolder('ledger'),
        KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
        KAFKA_TOPIC_PREFIX: options.topicPrefix,
        SCHEMA_REGISTRY_URL: testInfra().registryUrl,
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
      },
    }),
  );
  return { child, url: `https://127.0.0.1:${ports[1]}` };
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (!hasEnded(child)) await once(child, 'exit');
}
