import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import type { ReceivedSpan } from '@pixmesh/testkit/otlp-spans';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { expect, test } from 'vitest';

const TRACED_PROCESS = fileURLToPath(new URL('testing/traced-process.ts', import.meta.url));
const NO_TRACE = '';

test('a process with the preload traces every library in one unbroken trace', async () => {
  await using receiver = await startOtlpReceiver();
  const stdout = await runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const spans = receiver.spans();
  const root = find(spans, (span) => span.name === 'root');
  const client = find(
    spans,
    (span) => span.kind === 'client' && 'http.request.method' in span.attributes,
  );
  const server = find(spans, (span) => span.kind === 'server' && span.traceId === root.traceId);
  const postgres = find(spans, (span) => span.name.startsWith('pg.query'));
  const redis = find(spans, (span) => /^redis-GET|^GET$/.test(span.name) && isRedis(span));

  expect(client.parentSpanId).toBe(root.spanId);
  expect(server.parentSpanId).toBe(client.spanId);
  expect(postgres.parentSpanId).toBe(server.spanId);
  expect(redis.parentSpanId).toBe(server.spanId);
  expect(new Set([root, client, server, postgres, redis].map(({ traceId }) => traceId)).size).toBe(
    1,
  );
  // And nothing of the caller's baggage or `tracestate` behind it.
  expect(stdout).toBe(`00-${server.traceId}-${server.spanId}-01`);
  for (const { service } of spans) expect(service).toBe('traced');
  // One process, and which.
  expect(new Set(spans.map(({ instance }) => instance)).size).toBe(1);
  expect(root.instance).toMatch(/:\d+$/);
});

test('neither URLs nor values are among the exported spans, and health checks make none', async () => {
  await using receiver = await startOtlpReceiver();
  await runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const text = JSON.stringify(receiver.spans(), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(text).not.toContain('canary');
  expect(text).not.toContain('livez');
  expect(receiver.spans().filter(({ kind }) => kind === 'server')).toHaveLength(1);
});

test('without a collector nothing is traced, and nothing is sent anywhere', async () => {
  expect(await runTraced({})).toBe(NO_TRACE);
});

async function runTraced(env: Record<string, string>): Promise<string> {
  const { postgresUrl, redis } = testInfra();
  const { PATH = '' } = process.env;
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', '@pixmesh/telemetry/preload', TRACED_PROCESS, postgresUrl, redis.urls.tools],
    {
      env: { PATH, SERVICE_NAME: 'traced', NODE_EXTRA_CA_CERTS: redis.caFile, ...env },
      timeout: 20_000,
    },
  );
  expect(stderr).toBe('');
  return stdout;
}

function find(
  spans: readonly ReceivedSpan[],
  matches: (span: ReceivedSpan) => boolean,
): ReceivedSpan {
  const found = spans.find(matches);
  if (!found) throw new Error(`no such span among ${spans.map(({ name }) => name).join(', ')}`);
  return found;
}

function isRedis({ attributes }: ReceivedSpan): boolean {
  return attributes['db.system'] === 'redis' || attributes['db.system.name'] === 'redis';
}
