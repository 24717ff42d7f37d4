import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { runForRequest } from '@pixmesh/telemetry/request-id';
import { recordSpans } from '@pixmesh/telemetry/testing/recorded-spans';
import { currentTraceParent, withSpan } from '@pixmesh/telemetry/tracing';
import { afterAll, expect, test } from 'vitest';

import { handleMessage } from './handle-message.ts';
import { on } from './message-handler.ts';
import { toOutgoing } from './outgoing-message.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
/** Plain JSON, without a registry. */
const codec = {
  encode: async (_place: object, message: object) => Buffer.from(JSON.stringify(message)),
  decode: async (value: Buffer) => JSON.parse(value.toString()) as unknown,
};

const recorded = recordSpans();
afterAll(() => recorded.stop());

/** The headers of an event that was stored in this context, as the relay publishes it later. */
async function headersOf(stored: string | null): Promise<Record<string, string>> {
  const message = aWireMessage(1);
  const event = { eventId: message.event_id, topic: TOPICS.ledgerEvents, key: newId(), message };
  const { message: sent } = await toOutgoing(
    { codec, topicPrefix: '' },
    { ...event, type: TEST_MESSAGE.type, traceparent: stored },
  );
  return sent.headers as Record<string, string>;
}

/** Handles a message with these headers; answers the lines that were written meanwhile. */
async function linesOf(headers: Record<string, string>, fails = false) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('test', 'debug', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const value = Buffer.from(JSON.stringify(aWireMessage(1)));
  const place = { topic: TOPICS.ledgerEvents, partition: 0, offset: 1n, key: null };
  const handlers = [
    on(TEST_MESSAGE, async () => {
      if (fails) throw new TypeError('bug');
      logger.info('in the handler');
    }),
  ];
  const park = async (): Promise<void> => undefined;
  await handleMessage({ logger, codec, handlers, park }, { ...place, headers, value });
  return lines.map(({ msg, request_id }) => [msg, request_id]);
}

test('a message carries the request that its event was stored for, to every line about it', async () => {
  const stored = await withSpan('request', {}, () =>
    runForRequest(ID, async () => currentTraceParent()),
  );
  const headers = await headersOf(stored);
  expect(headers).toMatchObject({ request_id: ID, traceparent: expect.any(String) as string });
  expect(await linesOf(headers)).toEqual([
    ['in the handler', ID],
    ['message handled', ID],
  ]);
  expect(await linesOf(headers, true)).toEqual([['message parked in dead_letters', ID]]);
});

test('a message that no request is behind says so nowhere', async () => {
  const headers = await headersOf(null);
  expect(headers).not.toHaveProperty('request_id');
  expect(await linesOf(headers)).toEqual([
    ['in the handler', undefined],
    ['message handled', undefined],
  ]);
});
