import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { toRegistrySchema } from './json-schema.ts';
import { MESSAGE_SAMPLES } from '../../test/message-samples.ts';
import { type MessageType, subjectOf } from './message-type.ts';
import { MESSAGE_TYPES } from './message-types.ts';

const GOLDENS = fileURLToPath(new URL('../../schemas/', import.meta.url));
const named = MESSAGE_TYPES.map((message) => [subjectOf(message), message] as const);

test('subjects are unique and every one has a sample', () => {
  const subjects = named.map(([subject]) => subject);
  expect(new Set(subjects).size).toBe(subjects.length);
  expect(Object.keys(MESSAGE_SAMPLES).sort()).toEqual(MESSAGE_TYPES.map(({ type }) => type).sort());
});

test('no type stands on two topics, since consumers choose their handler by type', () => {
  const types = MESSAGE_TYPES.map(({ type }) => type);
  expect(new Set(types).size).toBe(types.length);
  for (const { topic } of MESSAGE_TYPES) expect(Object.values(TOPICS)).toContain(topic);
});

describe.each(named)('%s', (subject, message) => {
  const golden = `${GOLDENS}${subject}.json`;
  const accepts = validator(message);

  test('has the schema that stands in git as it is registered (UPDATE_GOLDEN=1 refreshes it)', () => {
    const text = `${JSON.stringify(toRegistrySchema(message))}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, text);
    expect(existsSync(golden) ? readFileSync(golden, 'utf8') : '').toBe(text);
  });

  test('its sample survives the way over the wire', () => {
    const sample = MESSAGE_SAMPLES[message.type];
    const wire: unknown = JSON.parse(JSON.stringify(z.encode(message.schema, sample)));
    expect(accepts(wire)).toBe(true);
    expect(message.schema.parse(wire)).toEqual(sample);
  });

  test('a producer cannot add a field, a consumer tolerates one', () => {
    const wire = z.encode(message.schema, MESSAGE_SAMPLES[message.type]) as { data: object };
    const newer = { ...wire, later: 1, data: { ...wire.data, later: 1 } };
    expect(accepts(newer)).toBe(false);
    expect(z.encode(message.schema, message.schema.parse(newer))).toEqual(wire);
  });

  test.each(['event_id', 'type', 'version', 'occurred_at', 'account_id', 'data'])(
    'is nothing without %s',
    (field) => {
      const wire = { ...(z.encode(message.schema, MESSAGE_SAMPLES[message.type]) as object) };
      Reflect.deleteProperty(wire, field);
      expect(accepts(wire)).toBe(false);
      expect(message.schema.safeParse(wire).success).toBe(false);
    },
  );

  test('is not taken for another type', () => {
    const wire = z.encode(message.schema, MESSAGE_SAMPLES[message.type]) as object;
    expect(accepts({ ...wire, type: 'charge.pix.expired' })).toBe(false);
    expect(message.schema.safeParse({ ...wire, type: 'charge.pix.expired' }).success).toBe(false);
  });
});

test('every golden belongs to a message type', () => {
  const files = named.map(([subject]) => `${subject}.json`);
  expect(readdirSync(GOLDENS).sort()).toEqual(files.sort());
});

function validator(message: MessageType): (value: unknown) => boolean {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(
    toRegistrySchema(message),
  );
  return (value) => validate(value);
}
