import { createKafka } from '@pixmesh/kafka/kafka-client';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { startBrokerProxy } from './broker-proxy.ts';
import { eventually } from './eventually.ts';
import { testBroker, testInfra } from './test-infra.ts';

test('clients meet the broker through the proxy alone, lose it while it is cut, and find it again', async () => {
  await using proxy = await startBrokerProxy(testInfra().kafkaBrokers[0] ?? '');
  const logger = createLogger('test', 'silent');
  const kafka = createKafka({ ...testBroker(), brokers: [proxy.broker], clientId: 'test', logger });
  const admin = kafka.admin({ retry: { retries: 1 } });
  await admin.connect();
  try {
    // The broker names itself; whoever believes it must still come through the proxy.
    const { brokers } = await admin.describeCluster();
    expect(brokers.map(({ host, port }) => `${host}:${port}`)).toEqual([proxy.broker]);
    proxy.cut();
    await expect(admin.listTopics()).rejects.toThrow('onnect');
    await expect(kafka.admin({ retry: { retries: 1 } }).connect()).rejects.toThrow('onnect');
    proxy.mend();
    const topics = await eventually(() => admin.listTopics());
    expect(topics.length).toBeGreaterThan(0);
  } finally {
    await admin.disconnect();
  }
});
