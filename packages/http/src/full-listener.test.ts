import { connect } from 'node:net';
import { once } from 'node:events';

import { createLogger } from '@pixmesh/telemetry/logger';
import { renderMetrics, stopTelemetry } from '@pixmesh/telemetry/running-telemetry';
import { startTelemetry } from '@pixmesh/telemetry/start-telemetry';
import { makeIdentity, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { expect, onTestFinished, test } from 'vitest';

import { deadlineIn } from './deadline.ts';
import { listen } from './testing/raw-request.ts';

test('a connection beyond the maximum of a service is counted by its caller, as a call without an answer', async () => {
  // What measures belongs to what runs when its module is loaded.
  await startTelemetry('payouts', {});
  onTestFinished(stopTelemetry);
  const [{ createInternalClient }, { meshPeers }, { createServiceApp }] = await Promise.all([
    import('./internal-client.ts'),
    import('./peers.ts'),
    import('./service-app.ts'),
  ]);
  const authority = await makeTestAuthority();
  const ledger = await makeIdentity(authority, 'ledger');
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    mutualTls: meshPeers(ledger).tls,
  });
  app.get('/', async () => ({}));
  app.server.maxConnections = 1;
  const port = await listen(app);
  onTestFinished(() => app.close());
  const only = connect(port, '127.0.0.1');
  onTestFinished(() => void only.destroy());
  await once(only, 'connect');
  await using client = createInternalClient({
    service: 'ledger',
    url: `https://127.0.0.1:${port}`,
    identity: await makeIdentity(authority, 'payouts'),
  });
  const call = { method: 'GET', path: '/', claims: null, deadline: deadlineIn(500) } as const;
  await expect(client.request(call)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  const counts = ((await renderMetrics()) ?? '').split('\n').filter((line) => {
    return line.startsWith('http_client_duration_seconds_count') && line.includes('outcome="none"');
  });
  expect(counts).toMatchObject([expect.stringMatching(/upstream="ledger".* 1$/)]);
});
