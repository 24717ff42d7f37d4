import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { ServiceName } from '@pixmesh/contracts/internal/service-token';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';
import { aCaller, createTokenKeys } from '@pixmesh/testkit/test-tokens';

import { buildApp } from '#app.ts';
import { createLedgerEngine } from '#engine/ledger-engine.ts';

export type LedgerApp = Awaited<ReturnType<typeof aLedgerApp>>;

/** The service's HTTP surface without a listener, its engine, and a peer's way to ask it. */
export async function aLedgerApp(db: Database) {
  const keys = createTokenKeys(['gateway']);
  const sign = await createTokenSigner(keys.privateKeys['gateway']!);
  const engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
  const app = buildApp({
    db,
    engine,
    logger: createLogger('ledger', 'silent'),
    verify: createTokenVerifier('ledger', keys.publicKeys),
    deadLetters: {
      list: async () => [],
      find: async () => null,
      replay: async () => false,
      dismiss: async () => false,
    },
    reconciliation: { latest: noReport, runNow: noReport, requestFull: noReport },
  });
  return { app, engine, get, send, tokenFor };

  /** A GET on behalf of an account, or of the peer itself. */
  async function get(url: string, caller: { accountId: string | null }) {
    const token = await tokenFor('ledger', caller.accountId);
    return await app.inject({ url, headers: { [INTERNAL_HEADERS.token]: token } });
  }

  /** A body on behalf of the peer itself; text is sent as it is. */
  async function send(method: 'PUT' | 'POST', url: string, body: object | string) {
    const token = await tokenFor('ledger', null);
    return await app.inject({
      method,
      url,
      headers: { [INTERNAL_HEADERS.token]: token, 'content-type': 'application/json' },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async function tokenFor(audience: ServiceName, accountId: string | null): Promise<string> {
    const claims = accountId === null ? null : aCaller({ account_id: accountId as AccountId });
    return await sign(audience, claims);
  }
}

async function noReport() {
  return { service: 'ledger', checked_at: null, checks: [], full_run: null };
}
