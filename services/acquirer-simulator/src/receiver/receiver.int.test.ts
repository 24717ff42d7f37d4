import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startTestSimulator, type TestSimulator } from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

afterEach(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function send(path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`${simulator.receiverUrl}${path}`, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
    ...init,
  });
}

/** For an answer that is not to come. */
function brief(): RequestInit {
  return { signal: AbortSignal.timeout(300) };
}

async function requests(query = ''): Promise<Record<string, unknown>[]> {
  const path = `/receiver/requests${query}`;
  const { body } = await simulator.call('GET', path);
  return body['data'] as Record<string, unknown>[];
}

async function behave(path: string, behaviour: object): Promise<void> {
  const { status } = await simulator.call('PUT', `/receiver/behaviour${path}`, behaviour);
  expect(status).toBe(200);
}

describe('the development receiver', () => {
  it('records a request exactly as it came', async () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    await send('/hook?a=1', { body, headers: { 'x-webhook-event': 'charge.pix.paid' } });
    const [recorded] = await requests('?path=/hook');
    expect(recorded).toMatchObject({
      sequence: 1,
      method: 'POST',
      host: new URL(simulator.receiverUrl).host,
      path: '/hook?a=1',
      headers: { 'x-webhook-event': 'charge.pix.paid' },
      body_base64: body.toString('base64'),
      answered_status: 200,
    });
    expect(Date.parse(String(recorded?.['received_at']))).toBeGreaterThan(0);
  });

  it('records many at once, in order and durably', async () => {
    const bodies = Array.from({ length: 200 }, (_, index) =>
      JSON.stringify({ index, quote: '"\\{' }),
    );
    await Promise.all(bodies.map(async (body) => await send('/many', { body })));
    await simulator[Symbol.asyncDispose]();
    simulator = await startTestSimulator(database.url);
    const recorded = await requests('?path=many');
    expect(recorded.map(({ sequence }) => sequence)).toEqual(bodies.map((_, index) => index + 1));
    expect(new Set(recorded.map(({ body }) => body))).toEqual(new Set(bodies));
  });

  it('lists by path and by number', async () => {
    await send('/a');
    await send('/b');
    await send('/a');
    expect((await requests('?path=/a')).map(({ sequence }) => sequence)).toEqual([1, 3]);
    expect((await requests('?after=1&limit=1')).map(({ sequence }) => sequence)).toEqual([2]);
  });

  it('forgets requests when told, and numbers on, also after a restart', async () => {
    await send('/a');
    await send('/b');
    expect((await simulator.call('DELETE', '/receiver/requests')).status).toBe(204);
    await simulator[Symbol.asyncDispose]();
    simulator = await startTestSimulator(database.url);
    await send('/a');
    expect((await requests()).map(({ sequence }) => sequence)).toEqual([3]);
  });

  it('answers as its path was told, as often as it was told', async () => {
    await behave('/hook/deep', { status: 503, times: 2 });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await send('/hook/deep')).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await send('/hook')).status).toBe(200);
    expect((await requests()).map((request) => request['answered_status'])).toEqual([
      503, 503, 200, 200,
    ]);
  });

  it('keeps a behaviour across a restart until it is changed', async () => {
    await behave('/hook', { status: 410 });
    await simulator[Symbol.asyncDispose]();
    simulator = await startTestSimulator(database.url);
    expect((await send('/hook')).status).toBe(410);
    await behave('/hook', {});
    expect((await send('/hook')).status).toBe(200);
  });

  it('hangs, and records that it never answered', async () => {
    await behave('/hook', { hang: true });
    const caller = new AbortController();
    const sent = send('/hook', { signal: caller.signal });
    await eventually(async () => {
      expect(await requests()).toMatchObject([{ answered_status: null }]);
    });
    caller.abort();
    await expect(sent).rejects.toThrow('aborted');
  });

  it('redirects, waits, drips and sends huge bodies', async () => {
    await behave('/redirect', { redirect: 'http://127.0.0.1/inside' });
    const redirected = await send('/redirect');
    expect(redirected.status).toBe(302);
    expect(redirected.headers.get('location')).toBe('http://127.0.0.1/inside');
    await behave('/slow', { delay_ms: 60_000 });
    await expect(send('/slow', brief())).rejects.toThrow('timeout');
    await behave('/drip', { drip: 50 });
    const dripping = await send('/drip', { signal: AbortSignal.timeout(1_500) });
    expect(dripping.status).toBe(200);
    await expect(dripping.text()).rejects.toThrow('timeout');
    await behave('/huge', { body_bytes: 3_000_000 });
    const huge = await send('/huge');
    expect((await huge.arrayBuffer()).byteLength).toBe(3_000_000);
  });

  it('names what is wrong with a behaviour', async () => {
    const answer = await simulator.call('PUT', '/receiver/behaviour/hook', { status: 1, wait: 5 });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect((await send('/hook')).status).toBe(200);
  });
});
