import { meshPeers } from '@pixmesh/http/peers';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expectGuardedRoutes } from '@pixmesh/testkit/internal-routes';

import { buildApp } from '#app.ts';

expectGuardedRoutes('ledger', (identity) => {
  const parts = { logger: createLogger('test', 'silent'), peers: meshPeers(identity) };
  return buildApp(parts as Parameters<typeof buildApp>[0]);
});
