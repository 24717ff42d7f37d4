import { issueTexts, makeIdentity, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { fetchAs } from '@pixmesh/testkit/mesh-calls';
import { afterEach, expect, onTestFinished, test } from 'vitest';

import { startFailpoints } from './failpoint-listener.ts';
import { armFailpoints, declareFailpoints } from './failpoints.ts';

const authority = await makeTestAuthority();
const failpoint = declareFailpoints(['orders.send.after-2xx', 'orders.relay.after-publish']);

afterEach(() => armFailpoints({}));

test('a failpoint that tools arm fires once, where it was armed', async () => {
  const port = await listening();
  expect(await arm(port, 'tools', { 'orders.relay.after-publish': 'error' })).toBe(204);
  await failpoint('orders.send.after-2xx');
  await expect(failpoint('orders.relay.after-publish')).rejects.toThrow(
    'orders.relay.after-publish',
  );
  await failpoint('orders.relay.after-publish');
});

test.each([{ 'no.such.place': 'kill' }, { 'orders.send.after-2xx': 'explode' }, null, 7])(
  'failpoints %j are refused as a whole',
  async (actions) => {
    expect(await arm(await listening(), 'tools', actions)).toBe(400);
  },
);

test.each(['gateway', 'charges', 'deploy'])('%s arms nothing', async (name) => {
  expect(await arm(await listening(), name, { 'orders.send.after-2xx': 'error' })).toBe(403);
  await failpoint('orders.send.after-2xx');
});

test('a stranger does not get as far as a request', async () => {
  const port = await listening();
  const call = { url: `https://127.0.0.1:${port}/failpoints`, method: 'PUT', body: '{}' };
  await expect(fetchAs({ ca: authority.cert }, 'charges', call)).rejects.toThrow('fetch failed');
  const foreign = await issueTexts(await makeTestAuthority(), 'tools');
  await expect(fetchAs({ ...foreign, ca: authority.cert }, 'charges', call)).rejects.toThrow(
    'fetch failed',
  );
});

test.each([
  ['in production', { NODE_ENV: 'production', FAILPOINTS_PORT: 0 }],
  ['where no port is set', { NODE_ENV: 'test' }],
])('there is no such listener %s', async (_when, settings) => {
  const identity = await makeIdentity(authority, 'charges');
  await using listener = await startFailpoints({
    config: { HOST: '127.0.0.1', ...settings },
    identity,
  });
  expect(listener.port).toBeNull();
});

async function listening(): Promise<number> {
  const listener = await startFailpoints({
    config: { NODE_ENV: 'test', HOST: '127.0.0.1', FAILPOINTS_PORT: 0 },
    identity: await makeIdentity(authority, 'charges'),
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return listener.port ?? 0;
}

async function arm(port: number, name: string, actions: unknown): Promise<number> {
  const url = `https://127.0.0.1:${port}/failpoints`;
  const call = { url, method: 'PUT', body: JSON.stringify(actions) };
  return (await fetchAs(await issueTexts(authority, name), 'charges', call)).status;
}
