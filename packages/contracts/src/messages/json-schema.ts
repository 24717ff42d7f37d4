import { z } from 'zod';

import type { MessageType } from './message-type.ts';

/**
 * The registry's form of a message type: JSON Schema draft-7 of the wire side, closed, so that the encoder
 * refuses unknown fields and a new optional one stays compatible.
 */
export function toRegistrySchema(message: MessageType): object {
  return z.toJSONSchema(message.schema, {
    target: 'draft-7',
    io: 'input',
    // Texts for people belong to the document of the public API; here they would only make new versions.
    metadata: z.registry(),
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'object' && jsonSchema.properties) {
        jsonSchema.additionalProperties = false;
      }
      // zod writes a long pattern beside each format; consumers check formats with zod itself.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
}
