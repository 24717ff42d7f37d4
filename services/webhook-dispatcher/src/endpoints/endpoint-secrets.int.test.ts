import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { expect, test } from 'vitest';

import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { anEndpointBody, callEndpoints } from '#test/start-endpoints-api.ts';
import { testEnvironment } from '#test/test-dispatcher.ts';

/** Part of every secret below, also of those that are refused. */
const CANARY = 'canary_5d1b90';
const TEST_TIMEOUT_MS = 90_000;
/** A closed port: nothing is sent. */
const NO_RECEIVER = 9;

test(
  'the secret of an endpoint stands in no answer, log line, trace or row of a process that holds no private key',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    await using collector = await startOtlpReceiver();
    const [port = 0] = await freePorts(1);
    const { WEBHOOK_SEALING_PRIVATE_KEYS: _keys, ...env } = testEnvironment({
      databaseUrl: database.url,
      topicPrefix,
      receiverPort: NO_RECEIVER,
    });
    await using dispatcher = await startDispatcherProcess({
      ...env,
      ROLES: 'api',
      PORT: String(port),
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    const caller = aCaller();
    const call = (route: string, body?: unknown) =>
      callEndpoints(`https://127.0.0.1:${port}`, { caller, route, body });

    const created = await call('POST /v1/webhooks', anEndpointBody({ secret: `1_${CANARY}` }));
    expect(created.body.has_secret).toBe(true);
    const path = `/v1/webhooks/${created.body.id}`;
    const answers = [
      created,
      await call(`PATCH ${path}`, { secret: `2_${CANARY}` }),
      await call(`PATCH ${path}`, { secret: `${CANARY}\u0000` }),
      await call(`PATCH ${path}`, { secret: [CANARY] }),
      await call(`PATCH ${path}`, `{"secret":"${CANARY}"`),
      await call('POST /v1/webhooks', anEndpointBody({ secret: CANARY.repeat(30) })),
      await call('GET /v1/webhooks'),
      await call(`DELETE ${path}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 400, 400, 400, 200, 204]);
    const spans = await eventually(() => {
      const received = collector.spans();
      expect(received.map(({ name }) => name).join()).toContain('DELETE /v1/webhooks/:id');
      return received;
    });
    const rows = await database.db.query<{ sealed_secret: string }>(
      sql`select id, sealed_secret from endpoints`,
    );
    expect(rows).toMatchObject([
      { sealed_secret: expect.stringMatching(/^sealed\.v1\./) as string },
    ]);
    await dispatcher.stop();
    const everything = JSON.stringify(
      [answers.map(({ text }) => text), dispatcher.output(), spans, rows],
      (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
    );
    expect(dispatcher.output()).toContain('/v1/webhooks');
    expect(everything).not.toContain(CANARY);
  },
  TEST_TIMEOUT_MS,
);
