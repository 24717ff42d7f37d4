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
  const ownIds = new Map<string, number>();
  const texts = new Map<number, string>();
  /** By subject and text. */
  const ids = new Map<string, Map<string, number>>();
  return {
    encode: async (message, value) => {
      const subject = subjectOf(message);
      const [first, ...others] = idsOf(subject);
      if (first === undefined) throw new Error(`no schema learned for ${subject}`);
      return await client.encode(first, value).catch(async (refusal: unknown) => {
        for (const id of others) {
          const encoded = await client.encode(id, value).catch(() => null);
          if (encoded !== null) return encoded;
        }
        throw refusal;
      });
    },
    decode: (value) => client.decode(value) as Promise<unknown>,
    learn: ({ subject, id, text }) => {
      const known = ids.get(subject) ?? new Map<string, number>();
      ids.set(subject, known.set(text, id));
      if (texts.get(id) !== text) {
        texts.set(id, text);
        client.cache.setSchema(id, SchemaType.JSON, compiledWhenNeeded(ajv, text));
      }
      if (ownTexts.get(subject) !== text || ownIds.get(subject) === id) return false;
      ownIds.set(subject, id);
      return true;
    },
    missing: () => [...ownTexts.keys()].filter((subject) => !ownIds.has(subject)),
  };

  /** Its own first, then the latest: the registry counts them. */
  function idsOf(subject: string): number[] {
    const own = ownIds.get(subject);
    const others = [...(ids.get(subject)?.values() ?? [])].filter((id) => id !== own);
    return [...(own === undefined ? [] : [own]), ...others.toSorted((a, b) => b - a)];
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
