import { expect, test } from 'vitest';
import { findDeliveries } from './merchant-hook.ts';
import { formatCents } from './timeline.ts';
import { renderTrace } from './trace-tree.ts';

const hop = (spanId: string, parentSpanId: string | null, startMs: number) => ({
  spanId,
  parentSpanId,
  name: `name-${spanId}`,
  service: 'gateway',
  startNs: BigInt(startMs) * 1_000_000n,
  endNs: BigInt(startMs + 2) * 1_000_000n,
});

test('a trace is shown as a tree, children below their parent in order of start', () => {
  const lines = renderTrace([
    hop('c', 'a', 30),
    hop('b', 'a', 20),
    hop('a', null, 10),
    hop('d', 'b', 25),
  ]);
  const names = lines.map((line) => line.slice(line.indexOf('gateway') + 20).trimEnd());
  expect(names).toEqual([' name-a', '   name-b', '     name-d', '   name-c']);
  expect(lines[0]).toMatch(/^ +\+0\.0 +2\.0 ms/);
});

test('a hop whose parent was not received still appears', () => {
  expect(renderTrace([hop('b', 'unknown', 5)])).toHaveLength(1);
});

test('a very long trace is cut and says so', () => {
  const lines = renderTrace(
    Array.from({ length: 100 }, (_, index) => hop(`s${index}`, null, index)),
  );
  expect(lines).toHaveLength(61);
  expect(lines.at(-1)).toContain('40 more');
});

test('cents are written as Brazilians write them', () => {
  expect([0, 5, 1_990, 123_456].map(formatCents)).toEqual([
    'R$ 0,00',
    'R$ 0,05',
    'R$ 19,90',
    'R$ 1234,56',
  ]);
});

test('only first deliveries of this resource count', () => {
  const request = (sequence: number, event: string, id: string) => ({
    sequence,
    headers: { 'x-webhook-event': event },
    body: JSON.stringify({ data: { id } }),
    body_base64: '',
    received_at: '2026-01-01T00:00:00.000Z',
  });
  const requests = [
    request(1, 'charge.pix.created', 'other'),
    request(2, 'charge.pix.created', 'mine'),
    request(3, 'charge.pix.created', 'mine'),
    request(4, 'charge.pix.paid', 'mine'),
  ];
  const expected = { resourceId: 'mine', events: ['charge.pix.created', 'charge.pix.paid'] };
  const found = findDeliveries(requests, expected).map(({ request }) => request.sequence);
  expect(found).toEqual([2, 4]);
});
