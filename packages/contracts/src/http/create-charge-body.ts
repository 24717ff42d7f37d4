import { isEmail } from '@pixmesh/kernel/emails';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { optionalText, textField } from './text-field.ts';
import { optionalWebhookUrl } from './webhook-url-field.ts';

export const EXPIRES_IN_SECONDS_MIN = 60;
export const EXPIRES_IN_SECONDS_MAX = 604_800;
export const CHARGE_AMOUNT_CENTS_MIN = 100n;

/**
 * Shape of `POST /v1/charges`. Rules with a code of their own (method, minimum amount, check digits, public
 * URL) follow once the shape holds (decisions 12, 13), so their fields are only typed here.
 */
export const CreateChargeBody = z.object({
  amount: z.int().max(Number(AMOUNT_CENTS_MAX)),
  method: z
    .string()
    .refine(isPlainText)
    .nullish()
    .transform((method) => method ?? 'pix'),
  customer: z.object({
    name: z
      .string()
      .transform((name) => name.trim())
      .pipe(textField({ min: 1, max: 200 })),
    email: z.string().refine(isEmail),
    document: z.string(),
    phone: optionalText({ max: 32 }),
  }),
  description: optionalText({ max: 140 }),
  reference: optionalText({ max: 255 }),
  expires_in: z
    .int()
    .min(EXPIRES_IN_SECONDS_MIN)
    .max(EXPIRES_IN_SECONDS_MAX)
    .nullish()
    .transform((seconds) => seconds ?? null),
  webhook_url: optionalWebhookUrl(),
  webhook_secret: optionalText({ min: 1, max: 255 }),
});
export type CreateChargeBody = z.output<typeof CreateChargeBody>;
