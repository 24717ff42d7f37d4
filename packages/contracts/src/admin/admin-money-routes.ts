import {
  ChargeStatusCheck,
  CreateRefundBody,
  ListOperatorChargesQuery,
  OperatorCharge,
  Refund,
} from '../internal/operator-charges.ts';
import {
  DefenseBody,
  ListDisputesQuery,
  MessageBody,
  OperatorDispute,
} from '../internal/operator-disputes.ts';
import {
  ListOperatorPayoutsQuery,
  OperatorPayout,
  PayoutStatusCheck,
} from '../internal/operator-payouts.ts';
import {
  ListPayoutStopsQuery,
  PayoutStop,
  ResumePayoutsBody,
  StopPayoutsBody,
} from '../internal/payout-stops.ts';
import { ResolveSuspenseBody, SuspenseResolution } from '../internal/suspense.ts';
import {
  BalancesQuery,
  ListJournalsQuery,
  ListRefundsQuery,
  ListSuspenseQuery,
} from './admin-queries.ts';
import { Balances, Journal, SuspenseItem } from './admin-resources.ts';
import { act, create, list, read, tagged } from './admin-route.ts';
import { CreateChargeBody } from '../http/create-charge-body.ts';
import { CreatePayoutBody } from '../http/create-payout-body.ts';

/** Routes of `/admin` about money: charges with their refunds and disputes, payouts, the ledger, suspense. */
export const ADMIN_MONEY_ROUTES = tagged('Money', {
  requestCharge: create(
    '/admin/accounts/:id/charges',
    'Make a charge for a checkout: announced, and not shown by /v1',
    {
      body: CreateChargeBody,
      repeatable: true,
      response: OperatorCharge,
      errors: [
        'NOT_FOUND',
        'METHOD_NOT_SUPPORTED',
        'AMOUNT_BELOW_MINIMUM',
        'INVALID_DOCUMENT',
        'INVALID_WEBHOOK_URL',
        'ACCOUNT_INACTIVE',
        'ACQUIRER_REJECTED',
      ],
    },
  ),
  listCharges: list('/admin/charges', 'List charges of all accounts, those of checkouts too', {
    query: ListOperatorChargesQuery,
    items: OperatorCharge,
  }),
  getCharge: read('/admin/charges/:id', 'Read a charge, with what explains where it stands', {
    response: OperatorCharge,
    errors: ['CHARGE_NOT_FOUND'],
  }),
  cancelCharge: act(
    '/admin/charges/:id/cancel',
    'Cancel a charge that waits for its Pix; the acquirer arbitrates a race with the payer',
    { response: OperatorCharge, errors: ['CHARGE_NOT_FOUND', 'CHARGE_NOT_PENDING'] },
  ),
  checkCharge: act(
    '/admin/charges/:id/check',
    'Ask the acquirer for a charge now, apply what it answers, and say what that was',
    { response: ChargeStatusCheck, errors: ['CHARGE_NOT_FOUND'] },
  ),
  createRefund: create(
    '/admin/charges/:id/refunds',
    'Refund a paid charge, in part or what is left of it',
    {
      body: CreateRefundBody,
      repeatable: true,
      keyRequired: true,
      response: Refund,
      errors: [
        'CHARGE_NOT_FOUND',
        'CHARGE_NOT_REFUNDABLE',
        'REFUND_EXCEEDS_CHARGE',
        'INSUFFICIENT_BALANCE',
      ],
    },
  ),
  listRefunds: list('/admin/charges/:id/refunds', 'List the refunds of a charge', {
    query: ListRefundsQuery,
    items: Refund,
    errors: ['CHARGE_NOT_FOUND'],
  }),
  listDisputes: list('/admin/disputes', 'List disputes of received Pix (MED)', {
    query: ListDisputesQuery,
    items: OperatorDispute,
  }),
  getDispute: read('/admin/disputes/:id', 'Read a dispute with its defence and messages', {
    response: OperatorDispute,
    errors: ['DISPUTE_NOT_FOUND'],
  }),
  defendDispute: act('/admin/disputes/:id/defense', 'Contest an open dispute at the acquirer', {
    body: DefenseBody,
    response: OperatorDispute,
    errors: ['DISPUTE_NOT_FOUND', 'DISPUTE_CLOSED', 'ACQUIRER_REJECTED'],
  }),
  sendDisputeMessage: create(
    '/admin/disputes/:id/messages',
    'Tell the merchant something about a dispute, announced by dispute.pix.message',
    {
      body: MessageBody,
      repeatable: true,
      response: OperatorDispute,
      errors: ['DISPUTE_NOT_FOUND'],
    },
  ),
  requestPayout: create(
    '/admin/accounts/:id/payouts',
    'Request a payout, which a second operator has to approve',
    {
      body: CreatePayoutBody,
      repeatable: true,
      response: OperatorPayout,
      errors: [
        'NOT_FOUND',
        'METHOD_NOT_SUPPORTED',
        'AMOUNT_BELOW_MINIMUM',
        'INVALID_WEBHOOK_URL',
        'PAYOUTS_DISABLED',
        'INSUFFICIENT_BALANCE',
      ],
    },
  ),
  listPayouts: list('/admin/payouts', 'List payouts of all accounts', {
    query: ListOperatorPayoutsQuery,
    items: OperatorPayout,
  }),
  listPayoutStops: list('/admin/payouts/stops', 'List stops of payouts, in force and ended', {
    query: ListPayoutStopsQuery,
    items: PayoutStop,
  }),
  stopPayouts: act(
    '/admin/payouts/stop',
    'Stop payouts of an account, or of all: new ones wait for approval, and nothing is sent',
    { body: StopPayoutsBody, response: PayoutStop, errors: ['NOT_FOUND'] },
  ),
  resumePayouts: act(
    '/admin/payouts/resume',
    'End the stop of an account, or that of all; what waits unsent is sent',
    { body: ResumePayoutsBody, response: PayoutStop, errors: ['NOT_FOUND'] },
  ),
  getPayout: read('/admin/payouts/:id', 'Read a payout, with what explains where it stands', {
    response: OperatorPayout,
    errors: ['PAYOUT_NOT_FOUND'],
  }),
  approvePayout: act(
    '/admin/payouts/:id/approve',
    'Approve a payout that another operator or an application requested',
    {
      response: OperatorPayout,
      errors: [
        'NOT_FOUND',
        'PAYOUT_NOT_FOUND',
        'PAYOUT_NOT_PENDING',
        'APPROVER_MUST_DIFFER',
        'PAYOUTS_DISABLED',
      ],
    },
  ),
  cancelPayout: act(
    '/admin/payouts/:id/cancel',
    'Cancel a payout that waits for approval; 409 where the acquirer has an order of it all the same',
    {
      response: OperatorPayout,
      errors: ['PAYOUT_NOT_FOUND', 'PAYOUT_NOT_PENDING', 'CONFLICT'],
    },
  ),
  checkPayout: act(
    '/admin/payouts/:id/check',
    'Ask the acquirer for a payout now, apply what it answers, and say what that was; 409 where it is canceled',
    { response: PayoutStatusCheck, errors: ['PAYOUT_NOT_FOUND', 'CONFLICT'] },
  ),
  getBalances: read(
    '/admin/accounts/:id/balances',
    'Every part of an account’s money, now or at an instant',
    { query: BalancesQuery, response: Balances, errors: ['NOT_FOUND'] },
  ),
  listJournals: list(
    '/admin/accounts/:id/journals',
    'The journals of an account with their entries',
    { query: ListJournalsQuery, items: Journal, errors: ['NOT_FOUND'] },
  ),
  listSuspense: list('/admin/suspense', 'Money that waits for an operator, or did', {
    query: ListSuspenseQuery,
    items: SuspenseItem,
  }),
  resolveSuspense: act(
    '/admin/suspense/:id/resolve',
    'Accept an item for its owner, or return it to its payer; done after the answer',
    {
      status: 202,
      body: ResolveSuspenseBody,
      response: SuspenseResolution,
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
  ),
});
