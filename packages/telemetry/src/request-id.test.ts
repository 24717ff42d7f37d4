import { afterAll, beforeEach, expect, test } from 'vitest';

import { createLogger } from './logger.ts';
import { bindToRequest, currentRequestId, runForRequest } from './request-id.ts';
import { recordSpans } from './testing/recorded-spans.ts';
import {
  continueFrom,
  currentTraceId,
  currentTraceParent,
  fromMessageHeaders,
  recordSpan,
  toMessageHeaders,
  withSpan,
} from './tracing.ts';

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const recorded = recordSpans();

beforeEach(() => recorded.forget());
afterAll(() => recorded.stop());

const idsOfSpans = () => recorded.ended().map((span) => span.attributes['pixmesh.request_id']);

test('outside of a request there is no id, and no field for it in a log line', () => {
  expect(currentRequestId()).toBeNull();
  expect(aLine()).not.toHaveProperty('request_id');
});

test('log lines and spans of a request carry its id, the span in which it came too', async () => {
  await withSpan('server', {}, () =>
    runForRequest(ID, async () => {
      expect(aLine()).toMatchObject({ request_id: ID, trace_id: currentTraceId() });
      await withSpan('inner', {}, async () => undefined);
      recordSpan('sent', {});
    }),
  );
  expect(idsOfSpans()).toEqual([ID, ID, ID]);
});

test('what is bound to a request belongs to it later too', () => {
  const seen: (string | null)[] = [];
  const later = runForRequest(ID, () => bindToRequest(() => void seen.push(currentRequestId())));
  later();
  expect(seen).toEqual([ID]);
});

test('a stored context brings the request back with its trace, whoever works on it', async () => {
  const stored = await withSpan('request', { parent: TRACE }, () =>
    runForRequest(ID, async () => currentTraceParent()),
  );
  recorded.forget();
  await runForRequest('another', () => withSpan('job', { parent: stored }, async () => undefined));
  continueFrom(stored, () => expect(currentRequestId()).toBe(ID));
  const [job] = recorded.ended();
  expect(job?.spanContext().traceId).toBe(TRACE.split('-')[1]);
  expect(idsOfSpans()).toEqual([ID]);
});

test('work of its own belongs to no request, and what only links to one still does', async () => {
  await runForRequest(ID, async () => {
    await withSpan('batch', { parent: null }, async () => undefined);
    await withSpan('retry', { parent: null, link: `${TRACE};${ID}` }, async () => undefined);
  });
  expect(idsOfSpans()).toEqual([undefined, ID]);
});

test.each([
  ['trace and request', `${TRACE};${ID}`, { traceparent: TRACE, request_id: ID }],
  ['a trace alone, as rows of before have it', TRACE, { traceparent: TRACE }],
  ['a request alone, where nothing is traced', `;${ID}`, { request_id: ID }],
  ['nothing', null, {}],
])('%s travel in the headers of a message', (_what, stored, headers) => {
  expect(toMessageHeaders(stored)).toEqual(headers);
  expect(fromMessageHeaders({ type: 'charge.pix.paid', ...headers })).toBe(stored);
});

/** The line that is logged here. */
function aLine(): Record<string, unknown> {
  let text = '';
  createLogger('test', 'info', { write: (line) => void (text += line) }).info('line');
  return JSON.parse(text) as Record<string, unknown>;
}
