import { TOPICS } from '@pixmesh/contracts/topics';
import { defineMessage, subjectOf } from '@pixmesh/contracts/messages/message-type';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { createCodec } from './message-codec.ts';
import { registryText } from './registry-client.ts';

/** Nothing listens there: a call of the registry fails. */
const NO_REGISTRY = 'http://127.0.0.1:1';

const message = defineMessage({
  topic: TOPICS.ledgerEvents,
  type: 'test.codec',
  schema: z.object({ a: z.string() }),
});
const other = defineMessage({ ...message, schema: z.object({ a: z.string(), b: z.string() }) });
const subject = subjectOf(message);
const text = registryText(message);

test('what is stored is enough to encode and decode: no registry is asked', async () => {
  const codec = createCodec(NO_REGISTRY, [message]);
  codec.learn({ subject, id: 7, text });
  const encoded = await codec.encode(message, { a: 'x' });
  expect(encoded.readUInt8(0)).toBe(0);
  expect(encoded.readInt32BE(1)).toBe(7);
  expect(await codec.decode(encoded)).toEqual({ a: 'x' });
  await expect(codec.encode(message, { a: 1 })).rejects.toThrow('invalid payload');
});

test('a message that only the schema of another version takes is encoded by that one', async () => {
  const codec = createCodec(NO_REGISTRY, [message]);
  codec.learn({ subject, id: 3, text: registryText(other) });
  expect(codec.missing()).toEqual([subject]);
  codec.learn({ subject, id: 2, text });
  expect((await codec.encode(message, { a: 'x' })).readInt32BE(1)).toBe(2);
  const encoded = await codec.encode(message, { a: 'x', b: 'y' });
  expect(encoded.readInt32BE(1)).toBe(3);
  expect(await codec.decode(encoded)).toEqual({ a: 'x', b: 'y' });
  await expect(codec.encode(message, { a: 1 })).rejects.toThrow('invalid payload');
});

test('a type that came with another version is encoded too, and one that nobody has stored is not', async () => {
  const codec = createCodec(NO_REGISTRY, []);
  await expect(codec.encode(message, { a: 'x' })).rejects.toThrow('no schema learned');
  codec.learn({ subject, id: 7, text });
  expect((await codec.encode(message, { a: 'x' })).readInt32BE(1)).toBe(7);
});

test('a registry that was built anew gives other ids, and messages of before are still read', async () => {
  const codec = createCodec(NO_REGISTRY, [message]);
  expect(codec.learn({ subject, id: 7, text })).toBe(true);
  expect(codec.learn({ subject, id: 7, text })).toBe(false);
  const before = await codec.encode(message, { a: 'before' });
  expect(codec.learn({ subject, id: 2, text })).toBe(true);
  const after = await codec.encode(message, { a: 'after' });
  expect(after.readInt32BE(1)).toBe(2);
  expect(await codec.decode(before)).toEqual({ a: 'before' });
  expect(await codec.decode(after)).toEqual({ a: 'after' });
});

test('what was encoded by a learned schema is only parsed: whether it fits is for its handler to say', async () => {
  const codec = createCodec(NO_REGISTRY, [message]);
  codec.learn({ subject, id: 7, text });
  const frame = (await codec.encode(message, { a: 'x' })).subarray(0, 5);
  const framed = (value: string): Buffer => Buffer.concat([frame, Buffer.from(value)]);
  expect(await codec.decode(framed('{"a":1}'))).toEqual({ a: 1 });
  await expect(codec.decode(framed('{"a'))).rejects.toThrow(SyntaxError);
});
