import { SchemaRegistry as RegistryClient, SchemaType } from '@kafkajs/confluent-schema-registry';
import { toRegistrySchema } from '@pixmesh/contracts/messages/json-schema';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { Ajv } from 'ajv';

export const CCOMPAT_PATH = '/apis/ccompat/v7';
export const REQUEST_TIMEOUT_MS = 3_000;
const REQUEST_RETRIES = 3;

/**
 * The client itself would wait for ever, and ask for a subject's own level only (`defaultToGlobal`; other requests
 * ignore it), which the registry calls `NONE` where there is none.
 */
export function createRegistryClient(registryUrl: string, ajvInstance = createAjv()) {
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

/** Formats are checked by zod; the client's own Ajv refuses to compile those it does not know. */
export function createAjv(): Ajv {
  return new Ajv({ strict: false, validateFormats: false });
}

/** The text of a message's schema, as it is registered and looked up. */
export function registryText(message: MessageType): string {
  return JSON.stringify(toRegistrySchema(message));
}
