import { eventually } from '@pixmesh/testkit/eventually';
import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { sql } from '@pixmesh/postgres/sql';
import { expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { readDeliveries } from '#test/listed-deliveries.ts';
import { startReceiver } from '#test/start-receiver.ts';
import { openResourceTopics, sealingKeys, testEnvironment } from '#test/test-dispatcher.ts';

const SECRET = 'whsec_canary_8c1e77';
/** Three starts of a process, on a machine that runs other tests as well. */
const TEST_TIMEOUT_MS = 90_000;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

test(
  'a delivery survives the death of its sender, before and after its request, in one trace',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    await using receiver = await startReceiver();
    await using collector = await startOtlpReceiver();
    await using topic = await openResourceTopics(topicPrefix);
    const env = {
      ...testEnvironment({ databaseUrl: database.url, topicPrefix, receiverPort: receiver.port }),
      LOG_LEVEL: 'debug',
      DELIVERY_TIMEOUT_MS: '2000',
      DELIVERY_LEASE_MS: '4000',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    };
    const event = aChargeEvent({ secret: { clear: SECRET, publicKey: sealingKeys.publicKey } });

    await using first = await startDispatcherProcess(env);
    await first.armFailpoint('webhooks.send.after-claim', 'kill');
    await topic.publish(event, `00-${TRACE_ID}-00f067aa0ba902b7-01`);
    expect(await first.ended()).toBe('SIGKILL');
    expect(receiver.requests).toEqual([]);

    await holdLease('1 hour');
    await using second = await startDispatcherProcess(env);
    await second.armFailpoint('webhooks.send.after-2xx', 'kill');
    await holdLease('0 seconds');
    expect(await second.ended()).toBe('SIGKILL');
    expect(receiver.requests).toHaveLength(1);

    await using third = await startDispatcherProcess(env);
    const delivery = await eventually(async () => {
      const [found, ...others] = await readDeliveries(database.db, event.data.id);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ status: 'succeeded', attempts: [{ number: 1 }] });
      return found!;
    });
    expect(receiver.requests).toHaveLength(2);
    for (const request of receiver.requests) {
      expect(request.headers['x-webhook-delivery']).toBe(delivery.id);
      expect(request.body.equals(receiver.requests[0]!.body)).toBe(true);
      expect(request.headers).not.toHaveProperty('traceparent');
      expect(request.headers).not.toHaveProperty('baggage');
    }
    await eventually(() => {
      const span = collector.spans().find(({ name }) => name === 'deliver webhook');
      expect(span).toMatchObject({
        traceId: TRACE_ID,
        kind: 'client',
        service: 'webhook-dispatcher',
      });
    });
    expect(await third.stop()).toBe(0);
    const outputs = [first, second, third].map((process) => process.output()).join('\n');
    const stored = await database.db.query(sql`
    select attempts::text as row from attempts
    union all select deliveries::text from deliveries
    union all select destinations::text from destinations`);
    expect(stored.length).toBeGreaterThanOrEqual(3);
    expect(outputs).toContain('delivery attempt made');
    const keys = Object.values(JSON.parse(sealingKeys.privateKeys) as Record<string, string>);
    for (const secret of [SECRET, ...keys]) {
      expect(outputs).not.toContain(secret);
      expect(JSON.stringify(stored)).not.toContain(secret);
    }

    /** Moves the end of the dead sender's lease of its lane, so that the next process can be armed before it. */
    async function holdLease(length: string): Promise<void> {
      const rows = await database.db.query(
        sql`update lanes set claimable_at = now() + ${length}::interval where leased returning id`,
      );
      expect(rows).toHaveLength(1);
    }
  },
  TEST_TIMEOUT_MS,
);
