import { EMAIL_LENGTH_MAX, isEmail } from '@pixmesh/kernel/emails';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { DOCUMENT_PATTERN } from './document-pattern.ts';
import { MethodField } from './method-field.ts';
import { orNull } from './optional-field.ts';
import { optionalText, TEXT_WITH_CONTENT_PATTERN, textField } from './text-field.ts';
import {
  optionalWebhookUrl,
  RESOURCE_SECRET_TEXT,
  RESOURCE_URL_TEXT,
} from './webhook-url-field.ts';

export const EXPIRES_IN_SECONDS_MIN = 60;
export const EXPIRES_IN_SECONDS_MAX = 604_800;
export const CHARGE_AMOUNT_CENTS_MIN = 100n;

/**
 * Shape of `POST /v1/charges`. Rules with a code of their own (method, minimum amount, check digits, public
 * URL) follow once the shape holds (decisions 12, 13), so their fields are only typed here.
 */
export const CreateChargeBody = z.object({
  amount: z
    .int()
    .max(Number(AMOUNT_CENTS_MAX))
    .meta({ minimum: Number(CHARGE_AMOUNT_CENTS_MIN), description: 'Cents; at least 100.' }),
  method: MethodField,
  customer: z.object({
    name: z
      .string()
      // Before the blanks go: a line break at an end is one of them, and no text (decision 246).
      .refine(isPlainText, { error: 'expected a text without control characters' })
      .transform((name) => name.trim())
      .pipe(textField({ min: 1, max: 200 }))
      .meta({
        minLength: 1,
        maxLength: 200,
        pattern: TEXT_WITH_CONTENT_PATTERN,
        description: 'Blanks around it are cut off; 1 to 200 characters remain.',
      }),
    email: z
      .string()
      .refine(isEmail, { error: 'expected an e-mail address at a public domain name' })
      .meta({
        format: 'email',
        maxLength: EMAIL_LENGTH_MAX,
        description: 'An address at a public domain name. Internationalised names are taken too.',
      }),
    document: z
      .string()
      // Other texts that are no document have a code of their own; a lone surrogate is a fault of shape (decision 247).
      .refine((text) => text.isWellFormed(), { error: 'expected a text without lone surrogates' })
      .meta({
        pattern: DOCUMENT_PATTERN,
        description:
          'CPF or CNPJ, with or without mask. Its check digits are validated: otherwise `INVALID_DOCUMENT`.',
      }),
    phone: optionalText({ max: 32 }).meta({ description: 'Stored, not returned.' }),
  }),
  description: optionalText({ max: 140 }).meta({
    description: 'Shown to the payer; up to 140 characters.',
  }),
  reference: optionalText({ max: 255 }).meta({
    description: "The caller's own identifier; returned in all responses and events of the charge.",
  }),
  expires_in: orNull(z.int().min(EXPIRES_IN_SECONDS_MIN).max(EXPIRES_IN_SECONDS_MAX)).meta({
    description: "Seconds until the charge expires; when absent, the account's default.",
  }),
  webhook_url: optionalWebhookUrl().meta({ description: RESOURCE_URL_TEXT }),
  webhook_secret: optionalText({ min: 1, max: 255 }).meta({ description: RESOURCE_SECRET_TEXT }),
});
export type CreateChargeBody = z.output<typeof CreateChargeBody>;
