import { ChargeStatus } from '../http/charge.ts';
import { CreateChargeBody } from '../http/create-charge-body.ts';
import { CreatePayoutBody } from '../http/create-payout-body.ts';
import { DisputeStatus, Dispute } from '../http/dispute.ts';
import { ErrorBody } from '../http/error-body.ts';
import { EventCatalogueEntry } from '../http/event-catalogue-entry.ts';
import { PaymentSnapshot, PayoutStatus, PixKeyType } from '../http/payout.ts';
import { PUBLIC_ROUTES } from '../http/public-routes.ts';
import { CreateWebhookBody, UpdateWebhookBody } from '../http/webhook-body.ts';
import { ChargeEvent, DisputeEvent, PaymentEvent, WebhookEvent } from '../http/webhook-event.ts';
import { buildSchemas, type DocumentSchemas } from './build-schemas.ts';

/** The body of every error; one of a creation of a charge may name that charge. */
export const ErrorSchema = ErrorBody.omit({ charge_id: true }).meta({
  description:
    '`code` is stable and made for programs, `message` is for people and may change, `details` lists failing fields, ' +
    'headers, parameters or required scopes.',
});
export const ChargeErrorSchema = ErrorBody;

/** The names under which the public document knows the schemas of the route table and of the events. */
export function buildPublicSchemas(): DocumentSchemas {
  return buildSchemas({
    requests: {
      CreateCharge: CreateChargeBody,
      CreatePayout: CreatePayoutBody,
      CreateWebhook: CreateWebhookBody,
      UpdateWebhook: UpdateWebhookBody,
      ChargeStatus,
      PayoutStatus,
      PixKeyType,
    },
    responses: {
      Charge: PUBLIC_ROUTES.getCharge.response,
      ChargeList: PUBLIC_ROUTES.listCharges.response,
      Payout: PUBLIC_ROUTES.getPayout.response,
      PayoutList: PUBLIC_ROUTES.listPayouts.response,
      Balance: PUBLIC_ROUTES.getBalance.response,
      Account: PUBLIC_ROUTES.getAccount.response,
      Webhook: PUBLIC_ROUTES.createWebhook.response,
      WebhookList: PUBLIC_ROUTES.listWebhooks.response,
      EventCatalogEntry: EventCatalogueEntry,
      EventCatalog: PUBLIC_ROUTES.listWebhookEvents.response,
      Error: ErrorSchema,
      ChargeError: ChargeErrorSchema,
      Payment: PaymentSnapshot,
      Dispute,
      DisputeStatus,
      ChargeStatus,
      PayoutStatus,
      PixKeyType,
      Event: WebhookEvent,
      ChargeEvent,
      PaymentEvent,
      DisputeEvent,
    },
    queries: {
      ListChargesQuery: PUBLIC_ROUTES.listCharges.query,
      ListPayoutsQuery: PUBLIC_ROUTES.listPayouts.query,
    },
  });
}
