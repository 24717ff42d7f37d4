import { randomBytes } from 'node:crypto';

import { messageEnvelope } from '@pixmesh/contracts/messages/message-envelope';
import { toRegistrySchema } from '@pixmesh/contracts/messages/json-schema';
import {
  defineMessage,
  type MessageType,
  subjectOf,
} from '@pixmesh/contracts/messages/message-type';
import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { TOPICS } from '@pixmesh/contracts/topics';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { readingCodec, registerSchemas, warmCodec } from './schema-registry.ts';

const { registryUrl } = testInfra();
let type: string;

/** A message type of its own for each test; subjects stay in the registry. */
function aMessage(data: z.ZodRawShape) {
  const schema = messageEnvelope(z.literal(type), z.object(data));
  return defineMessage({ topic: TOPICS.chargesEvents, type, schema });
}

const aType = () => `test.${randomBytes(6).toString('hex')}`;

beforeEach(() => {
  type = aType();
});

test('registering is safe to repeat, and gives every message type the same id again', async () => {
  const schemas = await registerSchemas(registryUrl, MESSAGE_TYPES);
  expect(schemas).toHaveLength(MESSAGE_TYPES.length);
  expect(await registerSchemas(registryUrl, MESSAGE_TYPES)).toEqual(schemas);
});

describe('deploy jobs that run at once agree', () => {
  const atOnce = async (message: MessageType) => {
    const jobs = Array.from({ length: 4 }, () => registerSchemas(registryUrl, [message]));
    const [first, ...others] = await Promise.all(jobs);
    for (const other of others) expect(other).toEqual(first);
  };

  test('about the first schema of a subject', async () => {
    for (let round = 1; round <= 10; round += 1) {
      await atOnce(aMessage({ a: z.string() }));
      type = aType();
    }
  });

  test('about a fresh registry', async () => {
    await clearGlobalLevel();
    await atOnce(aMessage({ a: z.string() }));
  });
});

test('a deploy job that died after the first schema of a subject stops no later one', async () => {
  const message = aMessage({ a: z.string() });
  await postSchema(message);
  await expect(registerSchemas(registryUrl, [message])).resolves.toBeInstanceOf(Array);
  const incompatible = aMessage({ a: z.int() });
  await expect(registerSchemas(registryUrl, [incompatible])).rejects.toMatchObject({ status: 409 });
});

test('a subject that was loosened by hand fails the deploy job', async () => {
  const message = aMessage({ a: z.string() });
  await registerSchemas(registryUrl, [message]);
  await putLevel(`/config/${subjectOf(message)}`, 'BACKWARD');
  await expect(registerSchemas(registryUrl, [message])).rejects.toThrow(
    'Compatibility does not match',
  );
});

describe('BACKWARD_TRANSITIVE with closed models', () => {
  test('accepts a new optional field', async () => {
    await registerSchemas(registryUrl, [aMessage({ a: z.string() })]);
    const newer = [aMessage({ a: z.string(), b: z.string().optional() })];
    await expect(registerSchemas(registryUrl, newer)).resolves.toBeInstanceOf(Array);
  });

  test.each([
    ['a new required field', { a: z.string(), b: z.string() }],
    ['a field taken away', {}],
    ['another type of a field', { a: z.int() }],
    ['a narrower value', { a: z.enum(['x']) }],
  ])('refuses %s', async (_what, data) => {
    await registerSchemas(registryUrl, [aMessage({ a: z.string() })]);
    await expect(registerSchemas(registryUrl, [aMessage(data)])).rejects.toMatchObject({
      status: 409,
    });
  });

  test('looks back beyond the last version', async () => {
    await registerSchemas(registryUrl, [aMessage({ a: z.string() })]);
    await registerSchemas(registryUrl, [aMessage({ a: z.string(), b: z.string().optional() })]);
    const newest = aMessage({ a: z.string(), b: z.string().optional(), c: z.string() });
    await expect(registerSchemas(registryUrl, [newest])).rejects.toMatchObject({ status: 409 });
  });
});

test('an older consumer reads a newer message, a newer consumer an older one', async () => {
  const older = aMessage({ a: z.string() });
  const newer = aMessage({ a: z.string(), b: z.string().optional() });
  await registerSchemas(registryUrl, [older]);
  await registerSchemas(registryUrl, [newer]);
  const [olderCodec, newerCodec] = await Promise.all([
    warmCodec(registryUrl, [older]),
    warmCodec(registryUrl, [newer]),
  ]);
  const message = { ...envelope(), data: { a: 'x' } };
  const extended = { ...envelope(), data: { a: 'x', b: 'y' } };
  const read = await olderCodec.decode(await newerCodec.encode(newer, extended));
  expect(older.schema.parse(read).data).toEqual({ a: 'x' });
  const decoded = await newerCodec.decode(await olderCodec.encode(older, message));
  expect(newer.schema.parse(decoded).data).toEqual({ a: 'x' });
});

test('what the schema does not know cannot be encoded, nor what nobody warmed', async () => {
  const message = aMessage({ a: z.string() });
  await registerSchemas(registryUrl, [message]);
  const codec = await warmCodec(registryUrl, [message]);
  const extra = { ...envelope(), data: { a: 'x', b: 'y' } };
  await expect(codec.encode(message, extra)).rejects.toThrow('invalid payload');
  await expect(codec.encode({ ...message, type: 'other' }, extra)).rejects.toThrow(
    'no schema learned',
  );
});

test('a service whose schemas are not registered does not start', async () => {
  await expect(warmCodec(registryUrl, [aMessage({ a: z.string() })])).rejects.toThrow(
    `${TOPICS.chargesEvents}-${type} cannot be looked up`,
  );
});

test('a tool decodes messages of any type', async () => {
  const message = aMessage({ a: z.string() });
  await registerSchemas(registryUrl, [message]);
  const codec = await warmCodec(registryUrl, [message]);
  const value = { ...envelope(), data: { a: 'x' } };
  const framed = await codec.encode(message, value);
  expect(await readingCodec(registryUrl).decode(framed)).toEqual(value);
});

function envelope() {
  return {
    event_id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a005',
    type,
    version: 1,
    occurred_at: '2026-11-20T15:30:00.123Z',
    account_id: null,
    application_id: null,
  };
}

const clearGlobalLevel = () => putLevel('/config', 'NONE');

async function putLevel(path: string, compatibility: string): Promise<void> {
  await callRegistry('PUT', path, { compatibility });
}

/** What a deploy job does first for a new subject, and nothing after it. */
async function postSchema(message: MessageType): Promise<void> {
  const schema = JSON.stringify(toRegistrySchema(message));
  const path = `/subjects/${subjectOf(message)}/versions`;
  await callRegistry('POST', path, { schemaType: 'JSON', schema });
}

async function callRegistry(method: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${registryUrl}/apis/ccompat/v7${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}
