import { type SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import jsonSchema from '@kafkajs/confluent-schema-registry/dist/JsonSchema.js';
import { type MessageType, subjectOf } from '@pixmesh/contracts/messages/message-type';
import type { MessageSchema } from '@pixmesh/postgres/message-schemas';
import type { Ajv } from 'ajv';

import { createAjv, createRegistryClient, registryText } from './registry-client.ts';

/** Encodes and decodes message values framed with the id of their schema. */
export type MessageCodec = {
  encode(message: Pick<MessageType, 'topic' | 'type'>, value: object): Promise<Buffer>;
  decode(value: Buffer): Promise<unknown>;
};

export type LearningCodec = MessageCodec & {
  /** True where the schema gives one of its own messages another id. */
  learn(schema: MessageSchema): boolean;
  /** Subjects of its own messages whose schema it has not learned. */
  missing(): string[];
};

type ClientSchema = Parameters<SchemaRegistry['cache']['setSchema']>[2];

/**
 * Encodes `messages` once it has learned their schemas, and decodes whatever was encoded by a schema that it has
 * learned. The registry is asked only for the schema of an id that it has not, and what has such an id is validated.
 *
 * What its own schemas refuse is encoded by those of another version: while a version is rolled out or back, the
 * processes of both publish from one outbox.
 */
export function createCodec(registryUrl: string, messages: readonly MessageType[]): LearningCodec {
  const ajv = createAjv();
  const client = createRegistryClient(registryUrl, ajv);
  const ownTexts = new Map(messages.map((message) => [subjectOf(message), registryText(message)]));
  const texts = new Map<number, string>();
  /** By subject and text. */
  const ids = new Map<string, Map<string, number>>();
  return {
    encode: async (message, value) => {
      const subject = subjectOf(message);
      const own = ownIdOf(subject);
      if (own === undefined) return await encodeByOthers(subject, value);
      return await client
        .encode(own, value)
        .catch((refusal: unknown) => encodeByOthers(subject, value, refusal));
    },
    decode: (value) => client.decode(value) as Promise<unknown>,
    learn: ({ subject, id, text }) => {
      if (texts.get(id) !== text) {
        texts.set(id, text);
        client.cache.setSchema(id, SchemaType.JSON, compiledWhenNeeded(ajv, text));
      }
      const known = ids.get(subject) ?? new Map<string, number>();
      const isChanged = known.get(text) !== id;
      ids.set(subject, known.set(text, id));
      return isChanged && ownTexts.get(subject) === text;
    },
    missing: () => [...ownTexts.keys()].filter((subject) => ownIdOf(subject) === undefined),
  };

  function ownIdOf(subject: string): number | undefined {
    return ids.get(subject)?.get(ownTexts.get(subject) ?? '');
  }

  /** By the latest that takes it: the registry counts its ids. */
  async function encodeByOthers(
    subject: string,
    value: object,
    refusal: unknown = new Error(`no schema learned for ${subject}`),
  ): Promise<Buffer> {
    const known = [...(ids.get(subject)?.values() ?? [])].toSorted((a, b) => b - a);
    for (const id of known) {
      const encoded = await client.encode(id, value).catch(() => null);
      if (encoded !== null) return encoded;
    }
    throw refusal;
  }
}

/**
 * The client's own kind of schema. To compile all that a service knows would hold up its start. What is decoded is not
 * validated here: its handler parses it by the schema of its type, and its producer has validated it by this one.
 */
function compiledWhenNeeded(ajvInstance: Ajv, schema: string): ClientSchema {
  let compiled: ClientSchema | null = null;
  const get = (): ClientSchema =>
    (compiled ??= new jsonSchema.default({ type: SchemaType.JSON, schema }, { ajvInstance }));
  return {
    toBuffer: (payload) => get().toBuffer(payload),
    fromBuffer: (buffer) => JSON.parse(buffer.toString()) as unknown,
    isValid: (payload, options) => get().isValid(payload, options),
  };
}
