import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { startHostileProcess } from '@pixmesh/testkit/hostile-process';
import { RECEIVERS_CA_FILE } from '@pixmesh/testkit/hostile-receivers';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { ownProcess } from '@pixmesh/testkit/owned-process';
import { beforeAll, describe, expect, test } from 'vitest';

import type { ExchangeFigures, ExchangePlan, HostileOutcome } from '#test/run-exchange.ts';
import { startReceiver } from '#test/start-receiver.ts';

const SCRIPT = fileURLToPath(new URL('../../test/run-exchange.ts', import.meta.url));

/** Decision 198; shorter in the usual run, where the deadline is a mere parameter. */
const TIMEOUT_MS = scaled(2_000, 10_000);
const LATENESS_MS_MAX = 2_000;
/** What hostile receivers may add to the memory of the process. */
const RSS_GROWTH_BYTES_MAX = 20 * 1024 * 1024;
const HOSTILE_AT_ONCE = scaled(58, 500);
/** The two halves run on one busy machine, so only a change of another order is significant. */
const P99_SLACK_MS = 50;
const OPTIONS = ['--expose-gc', '--max-semi-space-size=2', '--tls-min-v1.0', '--no-warnings'];
const RUN_MS_MAX = 120_000;

type Expected = Partial<Pick<HostileOutcome, 'outcome' | 'reason' | 'status'>> & {
  /** It lasts until the deadline, and no longer. */
  untilDeadline?: true;
};

const TIMEOUT = {
  outcome: 'failed',
  reason: 'timeout',
  status: null,
  untilDeadline: true,
} as const;
const BAD_RESPONSE = { outcome: 'failed', reason: 'bad_response', status: null } as const;
const LOST = { outcome: 'failed', reason: 'connection_lost', status: null } as const;
const TLS_FAILED = { outcome: 'failed', reason: 'tls_failed', status: null } as const;
const SUCCESS = { outcome: 'succeeded', reason: null, status: 200 } as const;

const EXPECTED: Readonly<Record<string, Expected>> = {
  hang: TIMEOUT,
  'drip-head': TIMEOUT,
  'drip-body': { ...SUCCESS, untilDeadline: true },
  'drip-chunks': { ...SUCCESS, untilDeadline: true },
  'drip-early-hints': TIMEOUT,
  'pour-early-hints': BAD_RESPONSE,
  'pour-body': SUCCESS,
  'pour-extensions': SUCCESS,
  'pour-trailers': SUCCESS,
  'gzip-bomb': SUCCESS,
  'big-head': BAD_RESPONSE,
  'tiny-headers': BAD_RESPONSE,
  'no-http': BAD_RESPONSE,
  redirect: { outcome: 'failed', reason: 'status', status: 302 },
  'reset-at-request': LOST,
  'reset-in-head': LOST,
  'reset-in-body': SUCCESS,
  'reset-at-connect': { outcome: 'failed', status: null },
  'tls-stalled': TIMEOUT,
  'tls-reset': { outcome: 'failed', status: null },
  'tls-expired': TLS_FAILED,
  'tls-self-signed': TLS_FAILED,
  'tls-wrong-name': TLS_FAILED,
  'tls-1.0': TLS_FAILED,
  'tls-1.1': TLS_FAILED,
  'tls-1.2': SUCCESS,
  'tls-ok': SUCCESS,
  'slow-dns': { outcome: 'failed', status: null },
};

describe(`${HOSTILE_AT_ONCE} hostile receivers at once`, () => {
  let figures: ExchangeFigures;
  let proxied: number;

  beforeAll(async () => {
    await using receivers = await startHostileProcess();
    await using proxy = await startReceiver();
    figures = await runExchange(proxy.port, {
      receivers,
      timeoutMs: TIMEOUT_MS,
      warmUpPosts: scaled(2_000, 10_000),
      watchedInFlight: 100,
      hostileAtOnce: HOSTILE_AT_ONCE,
      healthyOrigins: scaled(40, 500),
      healthyIntervalMs: 5,
      healthyMs: TIMEOUT_MS,
    });
    proxied = proxy.connections();
    const { rssBytes, healthyAlone, healthyBeside } = figures;
    const growthKiB = Math.round((rssBytes.most - rssBytes.before) / 1024);
    process.stdout.write(`${JSON.stringify({ growthKiB, healthyAlone, healthyBeside })}\n`);
  }, RUN_MS_MAX);

  test.each(Object.entries(EXPECTED))(
    '%s: the outcome is as stated, within the deadline',
    (trouble, { untilDeadline, ...expected }) => {
      const outcomes = figures.hostile.filter((outcome) => outcome.trouble === trouble);
      expect(outcomes.length).toBeGreaterThan(0);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject(expected);
        expect(outcome.durationMs).toBeLessThanOrEqual(TIMEOUT_MS + LATENESS_MS_MAX);
        if (untilDeadline) expect(outcome.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 10);
      }
    },
  );

  test('every trouble has its expectation', () => {
    const troubles = new Set(figures.hostile.map(({ trouble }) => trouble));
    expect([...troubles].sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  test('memory stays flat with 100 of them in flight', () => {
    const { before, most } = figures.rssBytes;
    expect(most - before).toBeLessThanOrEqual(RSS_GROWTH_BYTES_MAX);
  });

  test('good receivers beside them are served, and as fast as alone', () => {
    const { healthyAlone, healthyBeside } = figures;
    expect(healthyAlone).toMatchObject({ failed: 0 });
    expect(healthyBeside).toMatchObject({ failed: 0 });
    expect(healthyBeside.calls).toBeGreaterThan(0);
    // Two seconds of the usual run are too few for times.
    const p99MsMax = isLong ? 2 * healthyAlone.p99Ms + P99_SLACK_MS : TIMEOUT_MS;
    expect(healthyBeside.p99Ms).toBeLessThanOrEqual(p99MsMax);
  });

  test('neither a proxy nor a loosening from the environment was heeded', () => {
    expect(proxied).toBe(0);
  });
});

/**
 * In an environment that would lead every other client astray, with the receivers' issuer trusted. With a small
 * young generation, so that garbage that merely waits does not count as held.
 */
async function runExchange(proxyPort: number, plan: ExchangePlan): Promise<ExchangeFigures> {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const child = spawn(process.execPath, [...OPTIONS, SCRIPT, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: fileURLToPath(RECEIVERS_CA_FILE),
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
    },
  });
  ownProcess(child);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(output) as ExchangeFigures;
}
