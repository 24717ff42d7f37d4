import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import { Charge } from '@pixmesh/contracts/http/charge';
import { Dispute } from '@pixmesh/contracts/http/dispute';
import { ChargeEventType, DisputeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { describe, expect, test } from 'vitest';

import { bodyOf, buildBodyRest } from './build-body.ts';

const GOLDENS = fileURLToPath(new URL('../../golden/bodies/', import.meta.url));
const DELIVERY_ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const ASSEMBLED_AT = new Date('2026-11-20T15:31:02.345Z');
const TYPES = [...ChargeEventType.options, ...DisputeEventType.options];

/** The fields of a dispute that the specification names, and those of decisions 188, 190 and 195. */
const DISPUTE_FIELDS = [
  'object',
  'charge_id',
  'status',
  'amount',
  'reason',
  'opened_at',
  'defense_deadline_at',
  'resolved_at',
  'id',
  'reference',
  'method',
  'currency',
  'arrived_resolved',
  'returned_amount',
];

type Sample = { data: Record<string, unknown>; destination: { sealed_secret: string } | null };

const sampleOf = (type: EventName) => MESSAGE_SAMPLES[type] as Sample;

function sampleBody(event: EventName): { text: string; json: Record<string, unknown> } {
  const { data } = sampleOf(event);
  const rest = buildBodyRest({ event, assembledAt: ASSEMBLED_AT, data });
  const text = bodyOf(DELIVERY_ID, rest).toString();
  return { text, json: JSON.parse(text) as Record<string, unknown> };
}

function dataOf(event: EventName): Record<string, unknown> {
  return sampleBody(event).json['data'] as Record<string, unknown>;
}

describe.each(TYPES)('the body of %s', (type) => {
  test('is the one that stands in git (UPDATE_GOLDEN=1 refreshes it)', () => {
    const golden = `${GOLDENS}${type}.json`;
    const text = `${JSON.stringify(sampleBody(type).json, null, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(GOLDENS, { recursive: true });
      writeFileSync(golden, text);
    }
    expect(existsSync(golden) ? readFileSync(golden, 'utf8') : '').toBe(text);
  });

  test('holds nothing of a secret, sealed or not', () => {
    const { text } = sampleBody(type);
    expect(text).not.toMatch(/secret|sealed/i);
    const sealed = sampleOf(type).destination?.sealed_secret;
    if (sealed !== undefined) expect(text).not.toContain(sealed);
  });
});

test('every golden belongs to an event', () => {
  expect(readdirSync(GOLDENS).sort()).toEqual(TYPES.map((type) => `${type}.json`).sort());
});

test.each(ChargeEventType.options)('the data of %s is the charge as its GET shows it', (type) => {
  const data = dataOf(type);
  expect(Charge.strict().parse(data)).toEqual(data);
  expect(Object.keys(data).sort()).toEqual(Object.keys(Charge.shape).sort());
});

test.each(DisputeEventType.options)('the data of %s has exactly the decided fields', (type) => {
  const data = dataOf(type);
  const message = type === 'dispute.pix.message' ? ['message'] : [];
  expect(Dispute.strict().parse(data)).toEqual(data);
  expect(Object.keys(data).sort()).toEqual([...DISPUTE_FIELDS, ...message].sort());
});
