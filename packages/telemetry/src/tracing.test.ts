import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterAll, beforeEach, expect, test } from 'vitest';

import { recordSpans } from './testing/recorded-spans.ts';
import { currentTraceParent, nameServerSpan, recordSpan, withSpan } from './tracing.ts';

const STORED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const STORED_TRACE = STORED.split('-')[1];

const recorded = recordSpans();

beforeEach(() => recorded.forget());
afterAll(() => recorded.stop());

test('outside of any span there is no trace context', () => {
  expect(currentTraceParent()).toBeNull();
});

test('a span is the child of the active one, and active while its work runs', async () => {
  await withSpan('outer', {}, async (outer) => {
    expect(trace.getActiveSpan()).toBe(outer);
    await withSpan('inner', { kind: 'client', attributes: { a: 1 } }, async () => undefined);
    expect(currentTraceParent()).toContain(outer.spanContext().spanId);
  });
  const [inner, outer] = recorded.ended();
  expect(inner).toMatchObject({ name: 'inner', kind: SpanKind.CLIENT, attributes: { a: 1 } });
  expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  expect(outer?.parentSpanContext).toBeUndefined();
});

test('a span continues a stored trace, whatever is active', async () => {
  await withSpan('poll', {}, async () => {
    await withSpan('process', { kind: 'consumer', parent: STORED }, async () => undefined);
    await withSpan('unrelated', { parent: null }, async () => undefined);
  });
  const [processed, unrelated, poll] = recorded.ended();
  expect(processed?.spanContext().traceId).toBe(STORED_TRACE);
  expect(processed?.parentSpanContext?.spanId).toBe(STORED.split('-')[2]);
  expect(unrelated?.parentSpanContext).toBeUndefined();
  expect(unrelated?.spanContext().traceId).not.toBe(poll?.spanContext().traceId);
});

test('a stored trace that is no trace begins a new one', async () => {
  await withSpan('process', { parent: 'nonsense' }, async () => undefined);
  expect(recorded.ended()[0]?.parentSpanContext).toBeUndefined();
});

test('an error is thrown on, and only its name stands on the span', async () => {
  const failing = withSpan('failing', {}, () => Promise.reject(new TypeError('canary of Ana')));
  await expect(failing).rejects.toThrow('canary of Ana');
  const [span] = recorded.ended();
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'TypeError' });
  expect(span?.events).toEqual([]);
});

test('a recorded span hands on a context below the stored one', () => {
  const context = recordSpan('send', { kind: 'producer', parent: STORED });
  const [span] = recorded.ended();
  expect(span).toMatchObject({ name: 'send', kind: SpanKind.PRODUCER });
  expect(span?.parentSpanContext?.spanId).toBe(STORED.split('-')[2]);
  expect(context).toBe(`00-${STORED_TRACE}-${span?.spanContext().spanId}-01`);
});

test('the server span is named after its route', async () => {
  await withSpan('GET', {}, async () => nameServerSpan('GET', '/v1/charges/:id'));
  expect(recorded.ended()[0]).toMatchObject({
    name: 'GET /v1/charges/:id',
    attributes: { 'http.route': '/v1/charges/:id' },
  });
});

test('URLs, addresses and the words of errors never leave the process', async () => {
  await withSpan('call', {}, async (span) => {
    for (const name of [
      'url.full',
      'url.path',
      'url.query',
      'http.url',
      'http.target',
      'client.address',
    ]) {
      span.setAttribute(name, 'canary');
    }
    span.setAttribute('server.address', 'acquirer.example');
    span.recordException(new Error('canary'));
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'canary of a library' });
  });
  const [span] = recorded.ended();
  expect(JSON.stringify([span?.attributes, span?.events, span?.status])).not.toContain('canary');
  expect(span?.attributes).toEqual({ 'server.address': 'acquirer.example' });
  expect(span?.events[0]?.attributes).toEqual({ 'exception.type': 'Error' });
});

test('a span of its own trace links to a stored trace, and to none where none was stored', async () => {
  await withSpan('later', { parent: null, link: STORED }, async () => undefined);
  await withSpan('untraced', { parent: null, link: null }, async () => undefined);
  const [later, untraced] = recorded.ended();
  expect(later?.spanContext().traceId).not.toBe(STORED_TRACE);
  expect(later?.parentSpanContext).toBeUndefined();
  expect(later?.links.map((link) => link.context.traceId)).toEqual([STORED_TRACE]);
  expect(untraced?.links).toEqual([]);
});
