import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { ServiceName } from '@pixmesh/contracts/internal/service-token';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';
import { aCaller, createTokenKeys } from '@pixmesh/testkit/test-tokens';

import { buildApp } from '#app.ts';

export type LedgerApp = Awaited<ReturnType<typeof aLedgerApp>>;

/** The service's HTTP surface without a listener, and the gateway's way to ask it. */
export async function aLedgerApp(db: Database) {
  const keys = createTokenKeys(['gateway']);
  const sign = await createTokenSigner(keys.privateKeys['gateway']!);
  const app = buildApp({
    db,
    logger: createLogger('ledger', 'silent'),
    verify: createTokenVerifier('ledger', keys.publicKeys),
    deadLetters: { list: async () => [], replay: async () => false },
  });
  return { app, get, tokenFor };

  /** A GET on behalf of an account, or of the gateway itself. */
  async function get(url: string, caller: { accountId: string | null }) {
    const token = await tokenFor('ledger', caller.accountId);
    return await app.inject({ url, headers: { [INTERNAL_HEADERS.token]: token } });
  }

  async function tokenFor(audience: ServiceName, accountId: string | null): Promise<string> {
    const claims = accountId === null ? null : aCaller({ account_id: accountId as AccountId });
    return await sign(audience, claims);
  }
}
