import {
  CreateRecoveryBody,
  ListDeliveriesQuery,
  ListRecoveriesQuery,
  OperatorDelivery,
  OperatorWebhook,
  Recovery,
} from '../internal/operator-deliveries.ts';
import { Dispatchers } from '../internal/dispatchers.ts';
import { Timeline } from '../internal/timeline.ts';
import { act, change, create, list, read, tagged } from './admin-route.ts';
import { listOf } from '../http/list-envelope.ts';
import { UpdateWebhookBody } from '../http/webhook-body.ts';

/**
 * Routes of `/admin` about what merchants receive: endpoints, deliveries, recoveries, and the timeline of a resource.
 */
export const ADMIN_DELIVERY_ROUTES = tagged('Deliveries', {
  listWebhooks: read(
    '/admin/applications/:id/webhooks',
    'All endpoints of an application, with how they do',
    { response: listOf(OperatorWebhook), errors: ['NOT_FOUND'] },
  ),
  changeWebhook: change('/admin/webhooks/:id', 'Change an endpoint, as its application can', {
    body: UpdateWebhookBody,
    response: OperatorWebhook,
    errors: ['WEBHOOK_NOT_FOUND', 'INVALID_WEBHOOK_URL', 'INVALID_WEBHOOK_EVENT'],
  }),
  testWebhook: act(
    '/admin/webhooks/:id/test',
    'Send the endpoint a delivery of the event webhook.test, also while it is paused',
    { status: 202, response: OperatorDelivery, errors: ['WEBHOOK_NOT_FOUND'] },
  ),
  listDeliveries: list('/admin/deliveries', 'The delivery log with every attempt', {
    query: ListDeliveriesQuery,
    items: OperatorDelivery,
  }),
  getDelivery: read('/admin/deliveries/:id', 'Read a delivery with every attempt', {
    response: OperatorDelivery,
    errors: ['NOT_FOUND'],
  }),
  resendDelivery: act(
    '/admin/deliveries/:id/resend',
    'Send a delivery once more: same id and body, beside its schedule, as often as asked',
    { status: 202, response: OperatorDelivery, errors: ['NOT_FOUND', 'CONFLICT'] },
  ),
  createRecovery: create(
    '/admin/recoveries',
    'Send what did not arrive in a span of time again, at a rate',
    { body: CreateRecoveryBody, repeatable: true, response: Recovery },
  ),
  listRecoveries: list('/admin/recoveries', 'List recoveries of all accounts', {
    query: ListRecoveriesQuery,
    items: Recovery,
  }),
  getRecovery: read('/admin/recoveries/:id', 'How far a recovery has come', {
    response: Recovery,
    errors: ['NOT_FOUND'],
  }),
  cancelRecovery: act(
    '/admin/recoveries/:id/cancel',
    'Stop a recovery; what it has not sent yet is dropped',
    { response: Recovery, errors: ['NOT_FOUND', 'CONFLICT'] },
  ),
  getDispatchers: read(
    '/admin/dispatchers',
    'Which processes deliver, how much each has to do, and what waits',
    { response: Dispatchers },
  ),
  getChargeTimeline: read(
    '/admin/charges/:id/timeline',
    'Every state, journal, event, delivery and attempt of a charge, in order',
    { response: Timeline, errors: ['CHARGE_NOT_FOUND'] },
  ),
  getPayoutTimeline: read(
    '/admin/payouts/:id/timeline',
    'Every state, journal, event, delivery and attempt of a payout, in order',
    { response: Timeline, errors: ['PAYOUT_NOT_FOUND'] },
  ),
});
