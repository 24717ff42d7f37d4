import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';
import { injectedCall, injectedPeers } from '@pixmesh/testkit/injected-peers';
import { aCaller } from '@pixmesh/testkit/test-callers';

import { buildApp } from '#app.ts';
import { createLedgerEngine } from '#engine/ledger-engine.ts';

export type LedgerApp = Awaited<ReturnType<typeof aLedgerApp>>;

/** The service's HTTP surface without a listener, its engine, and a peer's way to ask it. */
export async function aLedgerApp(db: Database) {
  const engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
  const app = buildApp({
    db,
    engine,
    logger: createLogger('ledger', 'silent'),
    peers: injectedPeers,
    deadLetters: {
      list: async () => [],
      find: async () => null,
      replay: async () => false,
      dismiss: async () => false,
    },
    reconciliation: {
      latest: noReport,
      runNow: noReport,
      requestFull: noReport,
      accountBreaks: () => Promise.resolve([]),
    },
  });
  return { app, engine, get, send };

  /** A GET on behalf of an account, or of whom the route is for. */
  async function get(url: string, { accountId }: { accountId: string | null }) {
    const caller = accountId === null ? null : aCaller({ account_id: accountId as AccountId });
    return await app.inject(injectedCall('ledger', { route: `GET ${url}`, caller }));
  }

  /** A body of whom the route is for; text is sent as it is. */
  async function send(method: 'PUT' | 'POST', url: string, body: object | string) {
    return await app.inject(
      injectedCall('ledger', { route: `${method} ${url}`, caller: null, body }),
    );
  }
}

async function noReport() {
  return { service: 'ledger', checked_at: null, checks: [], full_run: null };
}
