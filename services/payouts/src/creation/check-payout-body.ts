import assert from 'node:assert';

import {
  CreatePayoutBody,
  PAYOUT_AMOUNT_CENTS_MIN,
} from '@pixmesh/contracts/http/create-payout-body';
import type { PixKeyType } from '@pixmesh/contracts/http/payout';
import { parseShape } from '@pixmesh/http/json-request';
import { explained } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import { normalizePixKey } from '@pixmesh/kernel/pix-keys';
import { checkPublicUrl } from '@pixmesh/kernel/public-url';

/** A body that passed every rule, in the form that is stored and compared. */
export type PayoutOrder = {
  amount: Cents;
  pixKeyType: PixKeyType;
  /** As sent, and as the acquirer gets it (decision 109). */
  pixKey: string;
  pixKeyCanonical: string;
  recipientName: string | null;
  recipientDocument: string | null;
  description: string | null;
  reference: string | null;
  webhookUrl: string | null;
  webhookSecret: string | null;
};

/**
 * Checks the body of `POST /v1/payouts`: first its shape, all faults in one answer, then the rules that have a
 * code of their own, in the order of decision 12.
 * @throws AppError with the exact code of the first rule that fails; nothing has been stored by then
 */
export function checkPayoutBody(object: Record<string, unknown>): PayoutOrder {
  const body = parseShape(CreatePayoutBody, object);
  if (body.method !== 'pix') throw explained('METHOD_NOT_SUPPORTED', 'method: expected pix.');
  if (body.amount < PAYOUT_AMOUNT_CENTS_MIN) {
    throw explained(
      'AMOUNT_BELOW_MINIMUM',
      `amount: expected at least ${PAYOUT_AMOUNT_CENTS_MIN} cents.`,
    );
  }
  if (body.webhook_url !== null && checkPublicUrl(body.webhook_url, 'write').kind === 'refused') {
    throw new AppError('INVALID_WEBHOOK_URL', { details: ['webhook_url'] });
  }
  return {
    amount: toCents(body.amount),
    pixKeyType: body.pix_key_type,
    pixKey: body.pix_key,
    pixKeyCanonical: canonicalKey(body),
    recipientName: body.recipient_name,
    recipientDocument: body.recipient_document,
    description: body.description,
    reference: body.reference,
    webhookUrl: body.webhook_url,
    // A secret without a URL signs nothing: it is checked, then dropped (decision 102).
    webhookSecret: body.webhook_url === null ? null : body.webhook_secret,
  };
}

function canonicalKey(body: CreatePayoutBody): string {
  const key = normalizePixKey(body.pix_key_type, body.pix_key);
  assert(key !== null, 'the schema takes keys of their type alone');
  return key;
}
