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

const CREATE_TRIES_MAX = 3;

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
  await againAfterRace(() => setGlobalCompatibility(registryUrl));
  const client = createClient(registryUrl);
  const ids = new Map<string, number>();
  for (const message of messages) {
    const id = await againAfterRace(() => registerSchema(client, message));
    ids.set(subjectOf(message), id);
  }
  return ids;
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
  if (response.ok) return;
  const reason = `${response.status} ${await response.text()}`;
  throw new Error(`schema registry refused its configuration: ${reason}`);
}

/**
 * The client itself would wait for ever, and ask for a subject's own level only (`defaultToGlobal`; other requests
 * ignore it), which the registry calls `NONE` where there is none.
 */
function createClient(registryUrl: string): RegistryClient {
  // Formats are checked by zod; the client's own Ajv refuses to compile those it does not know.
  const ajvInstance = new Ajv({ strict: false, validateFormats: false });
  return new RegistryClient(
    {
      host: `${registryUrl}${CCOMPAT_PATH}`,
      retry: { retries: REQUEST_RETRIES },
      middlewares: [
        () => ({
          request: async (request) =>
            request.enhance({ timeout: REQUEST_TIMEOUT_MS, params: { defaultToGlobal: true } }),
        }),
      ],
    },
    { [SchemaType.JSON]: { ajvInstance } },
  );
}

function asConfluentSchema(message: MessageType): { type: SchemaType.JSON; schema: string } {
  return { type: SchemaType.JSON, schema: JSON.stringify(toRegistrySchema(message)) };
}
