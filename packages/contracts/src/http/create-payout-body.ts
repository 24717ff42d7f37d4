import { normalizeDocument } from '@pixmesh/kernel/documents';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { normalizePixKey } from '@pixmesh/kernel/pix-keys';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { PixKeyType } from './payout.ts';
import { optionalText } from './text-field.ts';
import { optionalWebhookUrl } from './webhook-url-field.ts';

export const PAYOUT_AMOUNT_CENTS_MIN = 500n;

const Order = z.object({
  amount: z.int().max(Number(AMOUNT_CENTS_MAX)),
  method: z
    .string()
    .refine(isPlainText)
    .nullish()
    .transform((method) => method ?? 'pix'),
});

const Key = z
  .object({ pix_key_type: PixKeyType, pix_key: z.string() })
  .refine(({ pix_key_type, pix_key }) => normalizePixKey(pix_key_type, pix_key) !== null, {
    path: ['pix_key'],
    message: 'expected a key of its type',
  });

const Rest = z.object({
  recipient_name: optionalText({ max: 200 }),
  recipient_document: z
    .string()
    .transform((document, context): string => {
      const normalized = normalizeDocument(document);
      if (normalized !== null) return normalized.number;
      context.addIssue({ code: 'custom', message: 'expected a CPF or CNPJ' });
      return z.NEVER;
    })
    .nullish()
    .transform((document) => document ?? null),
  description: optionalText({ max: 140 }),
  reference: optionalText({ max: 255 }),
  webhook_url: optionalWebhookUrl(),
  webhook_secret: optionalText({ min: 1, max: 255 }),
});

/**
 * Shape of `POST /v1/payouts`. A key that does not fit its type and a document with wrong check digits are faults
 * of shape here (decisions 108, 110); rules with a code of their own (method, minimum amount, public URL) follow
 * once the shape holds (decisions 12, 13).
 *
 * An intersection, because a refinement over one object of all fields would be skipped as soon as any field is
 * wrong: the key is judged by its own two fields, and every fault is named in one answer.
 */
export const CreatePayoutBody = Order.and(Key).and(Rest);
export type CreatePayoutBody = z.output<typeof CreatePayoutBody>;
