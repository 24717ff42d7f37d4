import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { PixKeyType } from './payout.ts';
import { optionalText } from './text-field.ts';
import { optionalWebhookUrl } from './webhook-url-field.ts';

export const PAYOUT_AMOUNT_CENTS_MIN = 500n;

/**
 * Shape of `POST /v1/payouts`. Rules with a code of their own (method, minimum amount, public URL) follow once
 * the shape holds (decisions 12, 13). Whether the key fits its type and the document its check digits are
 * faults of shape too, but need both fields: the owner judges them together with this (decisions 108, 110).
 */
export const CreatePayoutBody = z.object({
  amount: z.int().max(Number(AMOUNT_CENTS_MAX)),
  method: z
    .string()
    .refine(isPlainText)
    .nullish()
    .transform((method) => method ?? 'pix'),
  pix_key_type: PixKeyType,
  pix_key: z.string(),
  recipient_name: optionalText({ max: 200 }),
  recipient_document: z
    .string()
    .nullish()
    .transform((document) => document ?? null),
  description: optionalText({ max: 140 }),
  reference: optionalText({ max: 255 }),
  webhook_url: optionalWebhookUrl(),
  webhook_secret: optionalText({ min: 1, max: 255 }),
});
export type CreatePayoutBody = z.output<typeof CreatePayoutBody>;
