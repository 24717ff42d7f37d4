import { codePointLength } from '@pixmesh/kernel/text';
import { z } from 'zod';

export const WEBHOOK_URL_LENGTH_MAX = 2048;

/** The shape of a URL to deliver to; whether its host is public has a code of its own (decision 163). */
export function webhookUrl() {
  return z
    .string()
    .refine((url) => codePointLength(url) <= WEBHOOK_URL_LENGTH_MAX && url.isWellFormed());
}

/** `webhook_url` of a creation: null and absent are the same (decision 7). */
export function optionalWebhookUrl() {
  return webhookUrl()
    .nullish()
    .transform((url) => url ?? null);
}
