import { AccountStatus, DocumentType, OnboardingStatus } from '../http/account.ts';
import { BankAccountType, ChargeStatus } from '../http/charge.ts';
import { CreateChargeBody } from '../http/create-charge-body.ts';
import { CreatePayoutBody } from '../http/create-payout-body.ts';
import { Dispute, DisputeReason, DisputeStatus } from '../http/dispute.ts';
import { EventCatalogueEntry, KnownEventName } from '../http/event-catalogue-entry.ts';
import { PaymentSnapshot, PayoutStatus, PixKeyType } from '../http/payout.ts';
import { PUBLIC_ROUTES } from '../http/public-routes.ts';
import { CreateWebhookBody, UpdateWebhookBody } from '../http/webhook-body.ts';
import { ChargeEvent, DisputeEvent, PaymentEvent, WebhookEvent } from '../http/webhook-event.ts';
import { buildSchemas, type DocumentSchemas } from './build-schemas.ts';
import { ChargeErrorSchema, ErrorSchema, PublicCode } from './error-schemas.ts';

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
      DisputeReason,
      ChargeStatus,
      PayoutStatus,
      PixKeyType,
      AccountStatus,
      OnboardingStatus,
      DocumentType,
      BankAccountType,
      EventName: KnownEventName,
      ErrorCode: PublicCode,
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
