import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway } from '#test/start-test-gateway.ts';

const STOP_MS_MAX = 5_000;

test('the gateway is alive, and ready as long as its tables answer', async () => {
  await using gateway = await startTestGateway();
  const read = (path: string) => sendRequest({ port: gateway.ports.internal, path });
  expect((await read('/livez')).status).toBe(200);
  expect((await read('/readyz')).status).toBe(200);
  await using admin = createPool({ url: gateway.database.adminUrl, applicationName: 'test' });
  await admin.query(sql`alter table gateway.callbacks rename to elsewhere`);
  await eventually(async () => expect((await read('/readyz')).status).toBe(503));
  expect((await read('/livez')).status).toBe(200);
});

test('no key waits for what operators read of the logs', async () => {
  await using gateway = await startTestGateway({ DATABASE_POOL_SIZE: '2' });
  const tenant = await gateway.createTenant();
  await using admin = createPool({ url: gateway.database.adminUrl, applicationName: 'test' });
  const reads = await admin.transaction(async (tx) => {
    await tx.query(sql`lock table gateway.request_log, gateway.audit_log in access exclusive mode`);
    const begun = ['/admin/requests', '/admin/audit'].map((path) => gateway.admin('GET', path));
    await eventually(async () => {
      const waiting = await admin.query(
        sql`
          select
          from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query ~ 'request_log_list|audit_list'`,
      );
      expect(waiting).toHaveLength(2);
    });
    expect((await gateway.request(tenant.key, 'GET', '/v1/account')).status).toBe(200);
    return begun;
  });
  await Promise.all(reads);
});

test('stopping it loses neither a request in progress nor a row of the log', async () => {
  const gateway = await startTestGateway();
  await using admin = createPool({ url: gateway.database.adminUrl, applicationName: 'test' });
  const tenant = await gateway.createTenant();
  const { charges } = gateway.owners;
  const release = Promise.withResolvers<void>();
  charges.answerWith((response) => {
    void release.promise.then(() => answerJson(response, 200, { body: { object: 'charge' } }));
  });
  const pending = gateway.request(tenant.key, 'GET', '/v1/charges/1');
  await eventually(() => expect(charges.requests).toHaveLength(1));

  const begin = performance.now();
  const stopped = gateway.stop();
  await eventually(() =>
    expect(gateway.request(null, 'GET', '/v1/account')).rejects.toThrow('ECONNREFUSED'),
  );
  release.resolve();
  expect((await pending).status).toBe(200);
  await stopped;
  expect(performance.now() - begin).toBeLessThan(STOP_MS_MAX);
  const rows = await admin.query(
    sql`select from gateway.request_log where key_id = ${tenant.keyId} and status = 200`,
  );
  expect(rows).toHaveLength(1);
  await gateway[Symbol.asyncDispose]();
});

test('a gateway that cannot listen leaves nothing running', async () => {
  await using gateway = await startTestGateway();
  const taken = { CALLBACK_PORT: String(gateway.ports.public) };
  await expect(startTestGateway(taken)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
