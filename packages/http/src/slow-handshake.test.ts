import { once } from 'node:events';
import { connect } from 'node:net';

import { makeInstallationCertificates } from '@pixmesh/certificates/installation-certificates';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test, vi } from 'vitest';

import { createServiceApp, fixedTls } from './service-app.ts';
import { listen } from './testing/raw-request.ts';

/** Node's own limit is 120 s. */
const TIMEOUT_MS = 60_000;

test('a connection that begins no TLS is closed in time', { timeout: TIMEOUT_MS }, async () => {
  const { ca, server } = await makeInstallationCertificates({
    serverHosts: ['127.0.0.1'],
    clientName: 'acquirer',
    now: new Date(),
  });
  const onRefused = vi.fn<() => void>();
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    mutualTls: fixedTls({ ...server, ca }),
    onRefused,
  });
  const silent = connect(await listen(app), '127.0.0.1').resume();
  await once(silent, 'close');
  expect(silent.bytesRead).toBe(0);
  expect(onRefused).not.toHaveBeenCalled();
  await app.close();
});
