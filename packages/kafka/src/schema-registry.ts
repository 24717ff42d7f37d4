import {
  COMPATIBILITY,
  type SchemaRegistry as RegistryClient,
  SchemaType,
} from '@kafkajs/confluent-schema-registry';
import { type MessageType, subjectOf } from '@pixmesh/contracts/messages/message-type';
import type { MessageSchema } from '@pixmesh/postgres/message-schemas';
import { repeat } from '@pixmesh/postgres/repeat';

import { createCodec, type MessageCodec } from './message-codec.ts';
import {
  CCOMPAT_PATH,
  createRegistryClient,
  registryText,
  REQUEST_TIMEOUT_MS,
} from './registry-client.ts';

/** The level of every subject: consumers deploy first, then producers (docs/guides/add-an-event.md). */
const COMPATIBILITY_LEVEL = COMPATIBILITY.BACKWARD_TRANSITIVE;
const CREATE_TRIES_MAX = 3;
/** The client repeats reads only, and a look-up is a POST. */
const LOOK_UP = { triesMax: 3, mayRepeat: () => true };

/**
 * Registers every message type and answers the schemas under their ids. Run by the deploy job only.
 * @throws when a schema is incompatible with its registered predecessors
 */
export async function registerSchemas(
  registryUrl: string,
  messages: readonly MessageType[],
): Promise<MessageSchema[]> {
  await againAfterRace(() => setGlobalCompatibility(registryUrl));
  const client = createRegistryClient(registryUrl);
  const schemas: MessageSchema[] = [];
  for (const message of messages) {
    const id = await againAfterRace(() => registerSchema(client, message));
    schemas.push({ subject: subjectOf(message), id, text: registryText(message) });
  }
  return schemas;
}

/**
 * The global level applies to every subject, so the client sets none of its own: between a subject's first schema and
 * its level another deploy job would read `NONE` and fail, and after a job that died there every later one.
 */
async function registerSchema(client: RegistryClient, message: MessageType): Promise<number> {
  const options = {
    subject: subjectOf(message),
    compatibility: COMPATIBILITY_LEVEL,
    updateConfig: false,
  };
  const { id } = await client.register(asConfluentSchema(message), options);
  return id;
}

/** Of two deploy jobs that create the same thing at once the registry refuses one, which finds it at another try. */
async function againAfterRace<T>(create: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await create();
    } catch (error) {
      const isRace = error instanceof Error && error.message.includes('already exists.');
      if (!isRace || tries === CREATE_TRIES_MAX) throw error;
    }
  }
}

/**
 * A codec of the registry's own answers, for tools and tests that have no database.
 * @throws when a schema is not registered: the deploy job has not run
 */
export async function warmCodec(
  registryUrl: string,
  messages: readonly MessageType[],
): Promise<MessageCodec> {
  const client = createRegistryClient(registryUrl);
  const codec = createCodec(registryUrl, messages);
  for (const message of messages) {
    const subject = subjectOf(message);
    const id = await repeat(() => lookUpId(client, message), LOOK_UP);
    codec.learn({ subject, id, text: registryText(message) });
  }
  return codec;
}

async function lookUpId(client: RegistryClient, message: MessageType): Promise<number> {
  const subject = subjectOf(message);
  try {
    return await client.getRegistryIdBySchema(subject, asConfluentSchema(message));
  } catch (error) {
    throw new Error(`schema ${subject} cannot be looked up: has the deploy job run?`, {
      cause: error,
    });
  }
}

/** A codec for tools that meet any message: ids are looked up as they come. */
export function readingCodec(registryUrl: string): Pick<MessageCodec, 'decode'> {
  return createCodec(registryUrl, []);
}

/** A fresh registry answers `NONE` for every subject, and then the first registration is refused. */
async function setGlobalCompatibility(registryUrl: string): Promise<void> {
  const response = await fetch(`${registryUrl}${CCOMPAT_PATH}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ compatibility: COMPATIBILITY_LEVEL }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (response.ok) return;
  const reason = `${response.status} ${await response.text()}`;
  throw new Error(`schema registry refused its configuration: ${reason}`);
}

function asConfluentSchema(message: MessageType): { type: SchemaType.JSON; schema: string } {
  return { type: SchemaType.JSON, schema: registryText(message) };
}
