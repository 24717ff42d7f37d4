import { codePointLength } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { orNull } from './optional-field.ts';

const WEBHOOK_URL_LENGTH_MAX = 2048;

export const RESOURCE_URL_TEXT =
  'Receives all events of this resource: http or https on a public host, otherwise `INVALID_WEBHOOK_URL`. Fixed once created.';
export const RESOURCE_SECRET_TEXT =
  'Signs the deliveries to `webhook_url`; never returned. Without it they carry no signature.';

/** What JSON Schema can say of `checkPublicUrl`. The validator leaves all of it to the code `INVALID_WEBHOOK_URL`. */
const HTTP_URL_PATTERN =
  '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\ \\x00-\\x1F\\x7F][^\\\\ \\x00-\\x1F\\x7F]*$';

/** The shape of a URL to deliver to; whether its host is public has a code of its own (decision 163). */
export function webhookUrl() {
  return z
    .string()
    .refine((url) => codePointLength(url) <= WEBHOOK_URL_LENGTH_MAX && url.isWellFormed(), {
      error: `expected a URL of at most ${WEBHOOK_URL_LENGTH_MAX} characters`,
    })
    .meta({ format: 'uri', maxLength: WEBHOOK_URL_LENGTH_MAX, pattern: HTTP_URL_PATTERN });
}

/** `webhook_url` of a creation: null and absent are the same (decision 7). */
export function optionalWebhookUrl() {
  return orNull(webhookUrl());
}
