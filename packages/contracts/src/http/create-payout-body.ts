import { normalizeDocument } from '@pixmesh/kernel/documents';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { KEY_LENGTH_MAX, normalizePixKey } from '@pixmesh/kernel/pix-keys';
import { z } from 'zod';

import { DOCUMENT_PATTERN } from './document-pattern.ts';
import { MethodField } from './method-field.ts';
import { orNull } from './optional-field.ts';
import { PixKeyType } from './payout.ts';
import { optionalText, parsedText } from './text-field.ts';
import {
  optionalWebhookUrl,
  RESOURCE_SECRET_TEXT,
  RESOURCE_URL_TEXT,
} from './webhook-url-field.ts';

export const PAYOUT_AMOUNT_CENTS_MIN = 500n;

const Order = z.object({
  amount: z
    .int()
    .max(Number(AMOUNT_CENTS_MAX))
    .meta({
      minimum: Number(PAYOUT_AMOUNT_CENTS_MIN),
      description: 'Cents, without fee; at least 500.',
    }),
  method: MethodField,
});

const Key = z
  .object({
    pix_key_type: PixKeyType,
    pix_key: z.string().meta({
      minLength: 3,
      maxLength: KEY_LENGTH_MAX,
      description:
        'A key of its type. `cpf`, `cnpj`: with or without mask, check digits validated. `email`: ASCII. ' +
        '`phone`: `+` and country code, or Brazilian area code and number with or without 55. ' +
        '`random`: a UUID with hyphens. Echoed as sent.',
    }),
  })
  .refine(({ pix_key_type, pix_key }) => normalizePixKey(pix_key_type, pix_key) !== null, {
    path: ['pix_key'],
    message: 'expected a key of its type',
  });

const DocumentNumber = parsedText(
  (text) => normalizeDocument(text)?.number ?? null,
  'expected a CPF or CNPJ',
).meta({ pattern: DOCUMENT_PATTERN });

const Rest = z.object({
  recipient_name: optionalText({ max: 200 }).meta({ description: 'Who is to be paid.' }),
  recipient_document: orNull(DocumentNumber).meta({
    description:
      'CPF or CNPJ of the recipient, check digits validated; the payout fails if the key belongs to another.',
  }),
  description: optionalText({ max: 140 }).meta({
    description: 'Shown to the recipient; up to 140 characters.',
  }),
  reference: optionalText({ max: 255 }).meta({
    description: "The caller's own identifier; returned in all responses and events of the payout.",
  }),
  webhook_url: optionalWebhookUrl().meta({ description: RESOURCE_URL_TEXT }),
  webhook_secret: optionalText({ min: 1, max: 255 }).meta({ description: RESOURCE_SECRET_TEXT }),
});

/**
 * Shape of `POST /v1/payouts`. A key that does not fit its type and a document with wrong check digits are faults
 * of shape here (decisions 108, 110); rules with a code of their own (method, minimum amount, public URL) follow
 * once the shape holds (decisions 12, 13).
 *
 * An intersection, because a refinement over one object of all fields would be skipped as soon as any field is
 * wrong: the key is validated by its own two fields, and every fault is named in one answer.
 */
export const CreatePayoutBody = Order.and(Key).and(Rest);
export type CreatePayoutBody = z.output<typeof CreatePayoutBody>;
