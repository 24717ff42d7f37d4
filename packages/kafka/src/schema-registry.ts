import {
  COMPATIBILITY,
  SchemaRegistry as RegistryClient,
  SchemaType,
} from '@kafkajs/confluent-schema-registry';
import { toRegistrySchema } from '@pixmesh/contracts/messages/json-schema';
import { type MessageType, subjectOf } from '@pixmesh/contracts/messages/message-type';
import { Ajv } from 'ajv';

/** The level of every subject: consumers deploy first, then producers (engineering: event contracts). */
const COMPATIBILITY_LEVEL = COMPATIBILITY.BACKWARD_TRANSITIVE;
const CCOMPAT_PATH = '/apis/ccompat/v7';
const REQUEST_TIMEOUT_MS = 3_000;
const REQUEST_RETRIES = 3;

const REGISTER_TRIES_MAX = 3;

/** Encodes and decodes message values framed with the id of their schema. */
export type MessageCodec = {
  encode(message: Pick<MessageType, 'topic' | 'type'>, value: object): Promise<Buffer>;
  decode(value: Buffer): Promise<unknown>;
};

/**
 * Registers every message type and answers subject → id. Run by the deploy job only.
 * @throws when a schema is incompatible with its registered predecessors
 */
export async function registerSchemas(
  registryUrl: string,
  messages: readonly MessageType[],
): Promise<Map<string, number>> {
  await setGlobalCompatibility(registryUrl);
  const client = createClient(registryUrl);
  const ids = new Map<string, number>();
  for (const message of messages) {
    ids.set(subjectOf(message), await registerSchema(client, message));
  }
  return ids;
}

/**
 * The client sets a subject's level after its first schema, and the registry refuses the second of two deploy
 * jobs that do so at once. By then the rule stands, so another try finds it.
 */
async function registerSchema(client: RegistryClient, message: MessageType): Promise<number> {
  const options = { subject: subjectOf(message), compatibility: COMPATIBILITY_LEVEL };
  for (let tries = 1; ; tries += 1) {
    try {
      return (await client.register(asConfluentSchema(message), options)).id;
    } catch (error) {
      const isRace = error instanceof Error && error.message.endsWith('already exists.');
      if (!isRace || tries === REGISTER_TRIES_MAX) throw error;
    }
  }
}

/**
 * Looks up the exact schemas this process speaks and keeps their ids, so that the registry is never asked
 * on the hot path; an outage of it stops only new processes and unknown ids.
 * @throws when a schema is not registered: the deploy job has not run
 */
export async function warmCodec(
  registryUrl: string,
  messages: readonly MessageType[],
): Promise<MessageCodec> {
  const client = createClient(registryUrl);
  const ids = new Map<string, number>();
  // One after the other: each answer is compiled, and on a busy machine the others would run out of time meanwhile.
  for (const message of messages) {
    ids.set(subjectOf(message), await lookUpSchema(client, message));
  }
  return {
    encode: (message, value) => {
      const id = ids.get(subjectOf(message));
      if (id === undefined) throw new Error(`no schema warmed for ${subjectOf(message)}`);
      return client.encode(id, value);
    },
    decode: (value) => client.decode(value) as Promise<unknown>,
  };
}

async function lookUpSchema(client: RegistryClient, message: MessageType): Promise<number> {
  const subject = subjectOf(message);
  try {
    const id = await client.getRegistryIdBySchema(subject, asConfluentSchema(message));
    await client.getSchema(id);
    return id;
  } catch (error) {
    throw new Error(`schema ${subject} cannot be looked up: has the deploy job run?`, {
      cause: error,
    });
  }
}

/** A codec for tools that meet any message: ids are looked up as they come. */
export function readingCodec(registryUrl: string): Pick<MessageCodec, 'decode'> {
  const client = createClient(registryUrl);
  return { decode: (value) => client.decode(value) as Promise<unknown> };
}

/** A fresh registry answers `NONE` for every subject, and then the first registration is refused. */
async function setGlobalCompatibility(registryUrl: string): Promise<void> {
  const response = await fetch(`${registryUrl}${CCOMPAT_PATH}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ compatibility: COMPATIBILITY_LEVEL }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(`schema registry refused its configuration: ${response.status}`);
}

function createClient(registryUrl: string): RegistryClient {
  // Formats are checked by zod; the client's own Ajv refuses to compile those it does not know.
  const ajvInstance = new Ajv({ strict: false, validateFormats: false });
  return new RegistryClient(
    {
      host: `${registryUrl}${CCOMPAT_PATH}`,
      retry: { retries: REQUEST_RETRIES },
      // The client itself would wait for ever.
      middlewares: [
        () => ({ request: async (request) => request.enhance({ timeout: REQUEST_TIMEOUT_MS }) }),
      ],
    },
    { [SchemaType.JSON]: { ajvInstance } },
  );
}

function asConfluentSchema(message: MessageType): { type: SchemaType.JSON; schema: string } {
  return { type: SchemaType.JSON, schema: JSON.stringify(toRegistrySchema(message)) };
}
