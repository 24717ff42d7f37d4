import {
  CHARGE_AMOUNT_CENTS_MIN,
  CreateChargeBody,
} from '@pixmesh/contracts/http/create-charge-body';
import { explained } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import { normalizeDocument } from '@pixmesh/kernel/documents';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import { checkPublicUrl } from '@pixmesh/kernel/public-url';
import { parseShape } from '@pixmesh/http/json-request';

/** A body that passed every rule, in the form that is stored and compared. */
export type ChargeOrder = {
  amount: Cents;
  description: string | null;
  reference: string | null;
  customer: { name: string; email: string; document: string; phone: string | null };
  expiresIn: number | null;
  webhookUrl: string | null;
  webhookSecret: string | null;
};

/**
 * Checks the body of `POST /v1/charges`: first its shape, all faults in one answer, then the rules that have
 * a code of their own, in the order of decision 12.
 * @throws AppError with the exact code of the first rule that fails; nothing has been stored by then
 */
export function checkChargeBody(sent: Record<string, unknown>): ChargeOrder {
  const body = parseShape(CreateChargeBody, sent);
  if (body.method !== 'pix') throw explained('METHOD_NOT_SUPPORTED', 'method: expected pix.');
  if (body.amount < CHARGE_AMOUNT_CENTS_MIN) {
    throw explained(
      'AMOUNT_BELOW_MINIMUM',
      `amount: expected at least ${CHARGE_AMOUNT_CENTS_MIN} cents.`,
    );
  }
  const document = normalizeDocument(body.customer.document);
  if (document === null) {
    throw new AppError('INVALID_DOCUMENT', { details: ['customer.document'] });
  }
  if (body.webhook_url !== null && checkPublicUrl(body.webhook_url, 'write').kind === 'refused') {
    throw new AppError('INVALID_WEBHOOK_URL', { details: ['webhook_url'] });
  }
  return {
    amount: toCents(body.amount),
    description: body.description,
    reference: body.reference,
    customer: { ...body.customer, document: document.number },
    expiresIn: body.expires_in,
    webhookUrl: body.webhook_url,
    // A secret without a URL signs nothing: it is validated, then dropped (decision 102).
    webhookSecret: body.webhook_url === null ? null : body.webhook_secret,
  };
}
