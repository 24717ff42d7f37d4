import { aHostileUrl } from '@pixmesh/kernel/testing/hostile-urls';
import { isPublicAddress } from '@pixmesh/kernel/ip-ranges';
import { startCanary } from '@pixmesh/testkit/canary';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { startReceiver } from '#test/start-receiver.ts';

import { type OpenSocket, openVerifiedSocket } from './connection-pools.ts';
import { createExchange, type ExchangeResult } from './exchange.ts';

/** URLs that are tried, made from a seed. */
const URLS = scaled(2_000, 100_000);
/** One after another most of the time would be spent waiting. */
const AT_ONCE = 50;
const TIMEOUT_MS = 2_000;

test(
  `${URLS} generated URLs: every attempt fails, and nothing goes to an address that is not public`,
  async () => {
    await using canary = await startCanary();
    await using receiver = await startReceiver();
    const dialled = { public: 0, mapped: 0, forbidden: [] as string[] };
    await using exchange = createExchange({
      timeoutMs: TIMEOUT_MS,
      resolveName: async (name) => addressesOf(name),
      devReceivers: [
        {
          pattern: '*.receiver.example.com',
          target: { address: '127.0.0.1', port: receiver.port },
        },
      ],
      isForbiddenAddress: () => false,
      openSocket: watching(dialled, receiver.port),
    });
    const reasons = new Map<string, number>();
    let mapped = 0;
    const batches = fc.array(aHostileUrl(canary.port), { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(batches, async (urls) => {
        const mappedUrl = `http://shop-${mapped}.receiver.example.com:${canary.port}/hook`;
        mapped += 1;
        const results = await Promise.all([mappedUrl, ...urls].map((url) => post(url)));
        const [good, ...others] = results;
        expect(good).toMatchObject({ outcome: 'succeeded', address: '127.0.0.1' });
        for (const { outcome, reason } of others) {
          expect(outcome).toBe('failed');
          reasons.set(String(reason), (reasons.get(String(reason)) ?? 0) + 1);
        }
      }),
      { numRuns: URLS / AT_ONCE, endOnFailure: true },
    );
    process.stdout.write(
      `${JSON.stringify({ ...Object.fromEntries(reasons), dialled, mapped })}\n`,
    );
    expect(dialled.forbidden).toEqual([]);
    expect(canary.connections()).toBe(0);
    expect(receiver.requests).toHaveLength(mapped);
    expect(dialled.mapped).toBe(receiver.connections());
    // Not everything failed for one reason: texts, look-ups and connections were all reached.
    for (const reason of ['url_refused', 'dns_failed', 'address_refused', 'connect_failed']) {
      expect(reasons.get(reason) ?? 0).toBeGreaterThan(0);
    }

    function post(url: string): Promise<ExchangeResult> {
      return exchange.post({ url, headers: {}, body: Buffer.from('{}') });
    }
  },
  isLong ? 600_000 : 60_000,
);

/** Real sockets, except to public addresses: those are refused here, so that no test leaves the machine. */
function watching(
  dialled: { public: number; mapped: number; forbidden: string[] },
  receiverPort: number,
): OpenSocket {
  return (timeout) => {
    const connect = openVerifiedSocket(timeout);
    return (options, callback) => {
      if (isPublicAddress(options.hostname, 'send')) {
        dialled.public += 1;
        return callback(Object.assign(new Error(), { code: 'ECONNREFUSED' }), null);
      }
      if (options.port === String(receiverPort)) dialled.mapped += 1;
      else dialled.forbidden.push(`${options.hostname} ${options.port}`);
      connect(options, callback);
    };
  };
}

/** Every name has its answer by a sum of its letters: none, public, private or both. */
function addressesOf(name: string): string[] {
  const kinds = [
    [],
    ['1.1.1.1'],
    ['127.0.0.1'],
    ['::1'],
    ['1.1.1.1', '10.0.0.1'],
    ['2606:4700::1111', '::ffff:127.0.0.1'],
    ['2606:4700::1111'],
    ['0.0.0.0'],
  ];
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return kinds[sum % kinds.length] ?? [];
}
