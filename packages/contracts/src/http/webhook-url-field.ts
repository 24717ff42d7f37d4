import { codePointLength } from '@pixmesh/kernel/text';
import { z } from 'zod';

export const WEBHOOK_URL_LENGTH_MAX = 2048;

/** The shape of `webhook_url` on creations; whether its host is public has a code of its own (decision 163). */
export function optionalWebhookUrl() {
  return z
    .string()
    .refine((url) => codePointLength(url) <= WEBHOOK_URL_LENGTH_MAX && url.isWellFormed())
    .nullish()
    .transform((url) => url ?? null);
}
