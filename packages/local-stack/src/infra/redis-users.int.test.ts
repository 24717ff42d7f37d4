import { testRedis } from '@pixmesh/testkit/test-redis';
import { createClient } from 'redis';
import { expect, test } from 'vitest';

const COUNTER = 'pixmesh:minute:of-the-test';
const CHANNEL = 'pixmesh:webhook-dispatcher:due';

/** By what is tried: which users may do it. */
const ATTEMPTS: readonly { command: readonly string[]; by: readonly string[] }[] = [
  { command: ['GET', COUNTER], by: ['gateway', 'tools'] },
  { command: ['ZCARD', 'pixmesh:in-flight:of-the-test'], by: ['gateway', 'tools'] },
  { command: ['GET', 'of-somebody-else'], by: ['tools'] },
  { command: ['SET', COUNTER, '0'], by: ['tools'] },
  { command: ['PUBLISH', CHANNEL, 'hint'], by: ['webhook-dispatcher', 'tools'] },
  { command: ['PUBLISH', 'another', 'hint'], by: ['tools'] },
  { command: ['KEYS', 'none-of-these'], by: ['tools'] },
  { command: ['CONFIG', 'GET', 'aclfile'], by: ['tools'] },
  { command: ['ACL', 'WHOAMI'], by: ['tools'] },
  // Flushing what other tests count would disturb them.
  { command: ['FLUSHALL', 'no-such-mode'], by: [] },
];

test.each(['gateway', 'webhook-dispatcher', 'tools'] as const)(
  '%s may do what it is there for, and nothing else',
  async (user) => {
    const { url, ca } = testRedis(user);
    const allowed = await tryAll(url, ca);
    expect(allowed).toEqual(ATTEMPTS.filter(({ by }) => by.includes(user)).map(toText));
  },
);

test('nobody gets in without a user, or with a wrong password', async () => {
  const { url, ca } = testRedis('tools');
  const anonymous = new URL(url);
  anonymous.username = '';
  anonymous.password = '';
  await expect(tryAll(anonymous.href, ca)).rejects.toThrow(/NOAUTH/);
  const forged = new URL(url);
  forged.password = 'guessed';
  await expect(tryAll(forged.href, ca)).rejects.toThrow(/WRONGPASS/);
});

test('Redis takes TLS only, and proves who it is', async () => {
  const { url } = testRedis('tools');
  expect(new URL(url).protocol).toBe('rediss:');
  await expect(tryAll(url.replace('rediss:', 'redis:'), undefined)).rejects.toThrow(
    /closed unexpectedly|ECONNRESET/,
  );
  await expect(tryAll(url, undefined)).rejects.toThrow(/self-signed certificate/);
});

/** Returns what was not refused. */
async function tryAll(url: string, ca: string | undefined): Promise<string[]> {
  const client = createClient({
    url,
    socket: { reconnectStrategy: false, ...(ca && { tls: true as const, ca }) },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const outcomes = await Promise.all(
      ATTEMPTS.map(async (attempt) => {
        const isDone = await client.sendCommand(attempt.command).then(
          () => true,
          () => false,
        );
        return isDone ? [toText(attempt)] : [];
      }),
    );
    return outcomes.flat();
  } finally {
    client.destroy();
  }
}

function toText({ command }: { command: readonly string[] }): string {
  return command.join(' ');
}
