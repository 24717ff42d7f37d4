import { randomBytes } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { connectTestRedis, testRedisVariables } from '@pixmesh/testkit/test-redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type RollingGateways, startRollingGateways } from '#test/rolling-gateways.ts';
import { type Answer, sendRequest } from '#test/send-request.ts';
import {
  BOOTSTRAP_TOKEN,
  startTestGateway,
  type Tenant,
  type TestGateway,
} from '#test/start-test-gateway.ts';

/** Keys in use meanwhile; odd, so that two gateways in turn see each of them. */
const KEYS = 7;
const REQUESTS_PER_SECOND = 100;
/** How long the load goes on after each restart of a gateway; there are four of them under load, or five. */
const PAUSE_MS = scaled(250, 15_000);
const TIMEOUT_MS = 60_000 + 10 * PAUSE_MS;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function aSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Makes `call` a hundred times a second until the work is over; answers what each call answered. */
async function under(call: (n: number) => Promise<number>, work: () => Promise<void>) {
  const calls: Promise<number>[] = [];
  const timer = setInterval(() => calls.push(call(calls.length)), 1_000 / REQUESTS_PER_SECOND);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return await Promise.all(calls);
}

async function rollThrough(
  gateways: RollingGateways,
  steps: readonly Record<string, string>[],
): Promise<void> {
  for (const step of steps) {
    await gateways.roll(step, PAUSE_MS);
  }
}

function read(gateways: RollingGateways, key: string): Promise<Answer> {
  const headers = ['x-api-key', key];
  return gateways.call(({ public: port }) => sendRequest({ port, path: '/v1/account', headers }));
}

function asBootstrap(gateways: RollingGateways, path: string, body?: object): Promise<Answer> {
  return gateways.call(({ admin: port }) =>
    sendRequest({
      port,
      method: body ? 'POST' : 'GET',
      path,
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`],
      body: body && JSON.stringify(body),
    }),
  );
}

describe('the pepper of API keys', () => {
  test(
    'is changed under load: every key is accepted throughout, and one that was not used ends with the old pepper',
    async () => {
      const [old, next] = [aSecret(), aSecret()];
      await using gateways = await startRollingGateways(gateway, { API_KEY_PEPPER: old });
      const tenant = await gateway.createTenant();
      const used = await createKeys(gateways, tenant, KEYS);
      const [rest] = await createKeys(gateways, tenant, 1);

      const answers = await under(
        async (n) => {
          // Now and then a key that was made this moment, by whichever gateway, is used at another.
          if (n % 25 === 0) used.push(...(await createKeys(gateways, tenant, 1)));
          return (await read(gateways, used[n % used.length] as string)).status;
        },
        () =>
          rollThrough(gateways, [
            { API_KEY_PEPPER: `${old},2:${next}` },
            { API_KEY_PEPPER: `2:${next},${old}` },
          ]),
      );
      expect(new Set(answers)).toEqual(new Set([200]));

      await eventually(async () => {
        for (const key of used) expect((await read(gateways, key)).status).toBe(200);
        // That of the tenant was made under a third pepper.
        expect(await listOnOldPepper(gateways, tenant)).toEqual([rest, tenant.key].map(publicIdOf));
      });
      await gateways.roll({ API_KEY_PEPPER: `2:${next}` });
      for (const key of used) expect((await read(gateways, key)).status).toBe(200);
      const refused = await read(gateways, rest as string);
      const unknown = await read(gateways, 'pxm_unknown');
      expect([refused.status, refused.text]).toEqual([401, unknown.text]);
    },
    TIMEOUT_MS,
  );

  test(
    'that is changed back keeps the keys that were made meanwhile, and the list shows them',
    async () => {
      const [old, next] = [aSecret(), aSecret()];
      await using gateways = await startRollingGateways(gateway, {
        API_KEY_PEPPER: `2:${next},${old}`,
      });
      const tenant = await gateway.createTenant();
      const [key = ''] = await createKeys(gateways, tenant, 1);
      await gateways.roll({ API_KEY_PEPPER: `${old},2:${next}` });
      expect((await read(gateways, key)).status).toBe(200);
      expect(await listOnOldPepper(gateways, tenant)).toEqual([publicIdOf(key)]);
    },
    TIMEOUT_MS,
  );

  async function createKeys(
    gateways: RollingGateways,
    { applicationId }: Tenant,
    count: number,
  ): Promise<string[]> {
    const path = `/admin/applications/${applicationId}/keys`;
    const body = { name: 'one', scopes: ['account:read'] };
    const answers = await Promise.all(
      Array.from({ length: count }, () => asBootstrap(gateways, path, body)),
    );
    return answers.map(({ json }) => String(json['key']));
  }

  async function listOnOldPepper(
    gateways: RollingGateways,
    { accountId }: Tenant,
  ): Promise<unknown[]> {
    const { json } = await asBootstrap(gateways, '/admin/keys?pepper=old&limit=100');
    const listed = json['data'] as { account_id: string; public_id: string }[];
    const own = listed.filter(({ account_id }) => account_id === accountId);
    return own.map(({ public_id }) => public_id);
  }

  function publicIdOf(key: string | undefined): string | undefined {
    return key?.slice(4, 16);
  }
});

describe('the secret of callbacks', () => {
  test(
    'is changed under load: callbacks under either are taken, and under the old one no more afterwards',
    async () => {
      const [old, next] = [aSecret(), aSecret()];
      await using gateways = await startRollingGateways(gateway, { CALLBACK_SECRET: old });
      let registered = old;
      const answers = await under(
        (n) => announce(gateways, registered, `R${n}`),
        async () => {
          await rollThrough(gateways, [{ CALLBACK_SECRET: `${next},${old}` }]);
          registered = next;
          await rollThrough(gateways, [{ CALLBACK_SECRET: next }]);
        },
      );
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(await announce(gateways, old, 'R-old')).toBe(401);
      const rows = await gateway.database.db.query<{ stored: number }>(sql`
        select count(*)::int as stored from events where key ~ '^R[0-9]+$'`);
      expect(rows).toEqual([{ stored: answers.length }]);
    },
    TIMEOUT_MS,
  );

  async function announce(
    gateways: RollingGateways,
    secret: string,
    endToEndId: string,
  ): Promise<number> {
    const path = `/acquirer/${secret}/pix`;
    const body = JSON.stringify({ pix: [{ endToEndId }] });
    const answer = await gateways.call(({ callback: port }) =>
      sendRequest({ port, method: 'POST', path, body }),
    );
    return answer.status;
  }
});

describe('the password of the database', () => {
  test(
    'is changed at the server between two restarts under load, and the old one opens no connection afterwards',
    async () => {
      await using admin = createPool({
        url: gateway.database.adminUrl,
        applicationName: 'rotations',
        max: 1,
      });
      await admin.query(sql`drop role if exists pixmesh_rotation`);
      await admin.query(
        sql`create role pixmesh_rotation login in role pixmesh_gateway password 'old-password'`,
      );
      await admin.query(sql`alter role pixmesh_rotation set search_path = gateway`);
      const settings = { API_KEY_PEPPER: aSecret() };
      const startWith = (password: string, other?: string) => ({
        ...settings,
        DATABASE_URL: urlWith(password, other),
      });
      await using gateways = await startRollingGateways(gateway, startWith('old-password'));
      const key = await aKey(gateways);
      const answers = await under(
        async () => (await read(gateways, key)).status,
        async () => {
          await gateways.roll(startWith('old-password', 'new-password'), PAUSE_MS);
          await admin.query(sql`alter role pixmesh_rotation password 'new-password'`);
          await gateways.roll(startWith('new-password'), PAUSE_MS);
        },
      );
      expect(new Set(answers)).toEqual(new Set([200]));
      await using pool = createPool({
        url: urlWith('old-password'),
        applicationName: 'rotations',
        max: 1,
      });
      await expect(pool.query(sql`select 1`)).rejects.toMatchObject({ code: '28P01' });
    },
    TIMEOUT_MS,
  );

  function urlWith(password: string, other?: string): string {
    const url = Object.assign(new URL(gateway.database.url), {
      username: 'pixmesh_rotation',
      password,
    });
    if (other !== undefined) url.searchParams.set('other_password', other);
    return url.href;
  }
});

describe('the password of Redis', () => {
  test(
    'is changed between two restarts under load, and the old one opens no connection afterwards',
    async () => {
      const [old, next] = [aSecret(), aSecret()];
      const user = `rotation_${randomBytes(4).toString('hex')}`;
      const redis = await connectTestRedis();
      await redis.sendCommand(['ACL', 'SETUSER', user, 'on', `>${old}`, '~*', '+@all']);
      const variablesWith = (password: string): Record<string, string> => {
        const variables = testRedisVariables('gateway');
        const url = new URL(variables['REDIS_URL'] ?? '');
        return { ...variables, REDIS_URL: Object.assign(url, { username: user, password }).href };
      };
      const settings = { API_KEY_PEPPER: aSecret(), RATE_LIMIT_PER_KEY: '1000000' };
      const startWith = (password: string) => ({ ...settings, ...variablesWith(password) });
      await using gateways = await startRollingGateways(gateway, startWith(old));
      const key = await aKey(gateways);
      const answers = await under(
        async () => (await read(gateways, key)).status,
        async () => {
          await redis.sendCommand(['ACL', 'SETUSER', user, `>${next}`]);
          await gateways.roll(startWith(next), PAUSE_MS);
          await redis.sendCommand(['ACL', 'SETUSER', user, `<${old}`]);
        },
      );
      expect(new Set(answers)).toEqual(new Set([200]));
      // A gateway serves before it has reached Redis.
      await eventually(async () => {
        const clients = await redis.sendCommand<string>(['CLIENT', 'LIST']);
        expect(clients.split(`user=${user}`).length - 1).toBe(2);
      });
      await gateways.roll(startWith(old));
      await eventually(async () => {
        expect(await redis.sendCommand<string>(['CLIENT', 'LIST'])).not.toContain(`user=${user}`);
      });
      await redis.sendCommand(['ACL', 'DELUSER', user]);
      await redis.close();
    },
    TIMEOUT_MS,
  );
});

async function aKey(gateways: RollingGateways): Promise<string> {
  const { applicationId } = await gateway.createTenant();
  const path = `/admin/applications/${applicationId}/keys`;
  const made = await asBootstrap(gateways, path, { name: 'one', scopes: ['account:read'] });
  return String(made.json['key']);
}

describe('the bootstrap token', () => {
  test('is replaced by another, or by none: then there is no bootstrap operator', async () => {
    const made = await gateway.admin('POST', '/admin/operators', { body: { name: 'Ana' } });
    const operator = String(made.json['token']);
    await using gateways = await startRollingGateways(gateway, {});
    expect(await readAs(gateways, BOOTSTRAP_TOKEN)).toBe(200);
    const next = aSecret();
    await gateways.roll({ ADMIN_BOOTSTRAP_TOKEN: next });
    expect(await readAs(gateways, BOOTSTRAP_TOKEN)).toBe(401);
    expect(await readAs(gateways, next)).toBe(200);
    await gateways.roll({ ADMIN_BOOTSTRAP_TOKEN: '' });
    for (const token of [BOOTSTRAP_TOKEN, next, '', 'undefined']) {
      expect(await readAs(gateways, token)).toBe(401);
    }
    expect(await readAs(gateways, operator)).toBe(200);
  });

  async function readAs(gateways: RollingGateways, token: string): Promise<number> {
    const headers = ['authorization', `Bearer ${token}`];
    const path = '/admin/operators';
    const answer = await gateways.call(({ admin: port }) => sendRequest({ port, path, headers }));
    return answer.status;
  }
});
