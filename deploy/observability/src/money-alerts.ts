import type { Alert } from './alerts.ts';

/** Each process of payouts keeps its own last reading of the balance: the newest one counts. */
export const ACQUIRER_BALANCE =
  'max(acquirer_balance_cents and acquirer_balance_read_at_seconds == scalar(max(acquirer_balance_read_at_seconds)))';

/** Of money: what stands still, what is missing and what does not agree. */
export const MONEY_ALERTS: readonly Alert[] = [
  {
    name: 'AcquirerUnavailable',
    meaning: 'calls of an operation are not sent to the acquirer, because it answers nobody',
    severity: 'page',
    for: '1m',
    expr: 'max by (service, operation) (acquirer_breaker_open) == 1',
    dashboard: 'money',
  },
  {
    name: 'AccountsHeldBack',
    meaning:
      'calls of single accounts are not sent to the acquirer, because it does not answer them',
    severity: 'ticket',
    // Of an acquirer that is away for all, `AcquirerUnavailable` pages first.
    for: '10m',
    expr: 'max by (service, operation) (acquirer_account_breakers_open) > 0',
    dashboard: 'money',
  },
  {
    name: 'ChargesOverdue',
    meaning: 'charges stay processing for more than a minute',
    severity: 'ticket',
    // A refusal that does not count yet keeps a charge for ten minutes (decision 63).
    for: '10m',
    expr: 'max(charges_processing_oldest_age_seconds) > 60',
    dashboard: 'money',
  },
  {
    name: 'ChargeChecksOverdue',
    meaning: 'routine checks of charges have waited for more than an hour',
    severity: 'ticket',
    for: '15m',
    expr: 'max(charges_due_check_oldest_age_seconds) > 3600',
    dashboard: 'money',
  },
  {
    name: 'PayoutsOverdue',
    meaning: 'payouts are due and unsent for 30 s, or sent and unanswered for 15 minutes',
    severity: 'page',
    for: '1m',
    expr: 'max(payouts_unsent) > 0 or max(payouts_unanswered) > 0',
    dashboard: 'money',
  },
  {
    name: 'PayoutsResting',
    meaning: 'payouts that the acquirer accepted 90 minutes ago have not ended',
    severity: 'page',
    for: '5m',
    expr: 'max(payouts_resting) > 0',
    dashboard: 'money',
  },
  {
    name: 'PayoutsStopped',
    meaning: 'reconciliation has stopped payouts, and no money leaves under that stop',
    severity: 'page',
    for: '0s',
    expr: 'max by (cause) (payouts_stopped{cause="reconciliation"}) > 0',
    dashboard: 'money',
  },
  {
    name: 'PayoutsStopForgotten',
    meaning: 'payouts have been stopped by an operator or a restore for a day',
    severity: 'ticket',
    for: '1d',
    expr: 'max by (cause) (payouts_stopped{cause="operator"}) > 0',
    dashboard: 'money',
  },
  {
    name: 'AcquirerBalanceLow',
    meaning: 'the balance at the acquirer does not cover the payouts that are due',
    severity: 'page',
    for: '5m',
    expr: `${ACQUIRER_BALANCE} < max(payouts_due_cents)`,
    dashboard: 'money',
  },
  {
    name: 'LedgerUnbalanced',
    meaning: 'the books do not sum to zero, or a stored balance is not the sum of its entries',
    severity: 'page',
    for: '0s',
    // A check that could not run has compared nothing.
    expr: 'max by (check) (reconciliation_breaks{check=~"ledger_sum|balance",kind!="unavailable"}) > 0',
    dashboard: 'money',
  },
  {
    name: 'ReconciliationBreaks',
    meaning: 'two records of money have differed for 15 minutes',
    severity: 'page',
    for: '15m',
    expr: 'max by (check, kind) (reconciliation_breaks{check!~"dead_letter.*"}) > 0',
    dashboard: 'money',
  },
  {
    name: 'ReconciliationOverdue',
    meaning: 'no reconciliation of a service has finished for a quarter of an hour',
    severity: 'page',
    for: '1m',
    expr: 'max by (service) (reconciliation_age_seconds) > 900',
    dashboard: 'money',
  },
  {
    name: 'ReconciliationFullOverdue',
    meaning: 'a check of a service has not compared everything for two days',
    severity: 'ticket',
    for: '15m',
    expr: 'max by (service) (reconciliation_full_age_seconds) > 172800',
    dashboard: 'money',
  },
  {
    name: 'SuspenseWaiting',
    meaning: 'money has been in suspense for more than an hour and waits for an operator',
    severity: 'ticket',
    for: '5m',
    expr: 'max(ledger_oldest_suspense_age_seconds) > 3600',
    dashboard: 'money',
  },
  {
    name: 'ReceivedListBehind',
    meaning: 'the list of received Pix has not been read to its end for five minutes',
    severity: 'page',
    for: '1m',
    expr: 'max(acquirer_list_lag_seconds{list="received"}) > 300',
    dashboard: 'money',
  },
  {
    name: 'AcquirerListBehind',
    meaning: 'a list of the acquirer has not been read to its end for half an hour',
    severity: 'ticket',
    // After an outage of ours the first reading needs a few minutes to end.
    for: '5m',
    // At rest it is below 4 minutes for the walks over changed and recent items, and below 6 for what is shown late. A
    // walk over older days takes hours where there is much to read; `received` has its own alert.
    expr: 'max by (list) (acquirer_list_lag_seconds{list!~"received|.*older"}) > 1800',
    dashboard: 'money',
  },
  {
    name: 'PixNoticesOverdue',
    meaning: 'an announced Pix has waited a quarter of an hour for the end of its checks',
    severity: 'ticket',
    // As long as refunds may be unanswered: the return of a Pix in suspense keeps its notice, too.
    for: '5m',
    expr: 'max(pix_notice_oldest_age_seconds) > 900',
    dashboard: 'money',
  },
  {
    name: 'ReleasesOverdue',
    meaning: 'money of merchants is still pending five minutes after its release was due',
    severity: 'page',
    for: '1m',
    expr: 'max(ledger_oldest_due_release_age_seconds) > 300',
    dashboard: 'money',
  },
  {
    name: 'RefundsOverdue',
    meaning: 'refunds have waited too long for a definite answer of the acquirer',
    severity: 'page',
    for: '5m',
    expr: 'max(refunds_unanswered) > 0',
    dashboard: 'money',
  },
];
