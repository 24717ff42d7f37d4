import type { Case } from '../suite/case.ts';
import { READ_ACCOUNT_CASES, READ_BALANCE_CASES } from './account-routes.ts';
import { AUTHENTICATION_CASES } from './authentication.ts';
import { CATALOG_CASES, EVENT_NAME_CASES } from './catalog.ts';
import { CHARGE_CASES } from './charge-fields.ts';
import { LIST_CHARGES_CASES, READ_CHARGE_CASES } from './charge-routes.ts';
import { CREATE_CHARGE_CASES } from './create-charge.ts';
import { FORMAT_CASES, SIGNATURE_CASES } from './deliveries.ts';
import { DISPUTE_STATUS_CASES, EVENT_RESOURCE_CASES } from './disputes.ts';
import { ENDPOINT_CASES, IDEMPOTENCY_CASES, PAGINATION_CASES } from './endpoints.ts';
import { ERROR_CASES } from './errors.ts';
import { LIMIT_CASES, VERSIONING_CASES } from './limits.ts';
import { MECHANISM_CASES } from './mechanisms.ts';
import {
  ACCOUNT_CASES,
  BALANCE_CASES,
  CATALOG_ENTRY_CASES,
  WEBHOOK_CASES,
} from './other-resources.ts';
import { PAYOUT_CASES } from './payout-fields.ts';
import { CREATE_PAYOUT_CASES, LIST_PAYOUTS_CASES, READ_PAYOUT_CASES } from './payout-routes.ts';
import { RETRY_CASES } from './retries.ts';
import { APPLICATION_CASES, SERVICE_CASES } from './service.ts';
import { CHARGE_STATUS_CASES, PAYOUT_STATUS_CASES } from './states.ts';
import {
  CREATE_WEBHOOK_CASES,
  DELETE_WEBHOOK_CASES,
  LIST_EVENTS_CASES,
  LIST_WEBHOOKS_CASES,
  UPDATE_WEBHOOK_CASES,
} from './webhook-routes.ts';

/** Every sentence of the specification, in its order. */
export const ALL_CASES: readonly Case[] = [
  ...SERVICE_CASES,
  ...APPLICATION_CASES,
  ...CHARGE_CASES,
  ...PAYOUT_CASES,
  ...BALANCE_CASES,
  ...ACCOUNT_CASES,
  ...WEBHOOK_CASES,
  ...CATALOG_ENTRY_CASES,
  ...EVENT_RESOURCE_CASES,
  ...CHARGE_STATUS_CASES,
  ...PAYOUT_STATUS_CASES,
  ...DISPUTE_STATUS_CASES,
  ...ENDPOINT_CASES,
  ...IDEMPOTENCY_CASES,
  ...PAGINATION_CASES,
  ...CREATE_CHARGE_CASES,
  ...READ_CHARGE_CASES,
  ...LIST_CHARGES_CASES,
  ...CREATE_PAYOUT_CASES,
  ...READ_PAYOUT_CASES,
  ...LIST_PAYOUTS_CASES,
  ...READ_BALANCE_CASES,
  ...READ_ACCOUNT_CASES,
  ...LIST_WEBHOOKS_CASES,
  ...CREATE_WEBHOOK_CASES,
  ...UPDATE_WEBHOOK_CASES,
  ...DELETE_WEBHOOK_CASES,
  ...LIST_EVENTS_CASES,
  ...AUTHENTICATION_CASES,
  ...MECHANISM_CASES,
  ...EVENT_NAME_CASES,
  ...CATALOG_CASES,
  ...FORMAT_CASES,
  ...SIGNATURE_CASES,
  ...RETRY_CASES,
  ...ERROR_CASES,
  ...LIMIT_CASES,
  ...VERSIONING_CASES,
];
