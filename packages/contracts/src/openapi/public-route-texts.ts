import type { PublicErrorCode } from '../http/error-body.ts';
import type { PUBLIC_ROUTES } from '../http/public-routes.ts';
import type { Example } from './document.ts';
import * as examples from './resource-examples.ts';

/** What the route table cannot say: texts and examples. Keyed by the table, so that no route can be forgotten. */
export type RouteText = {
  summary: string;
  description: string;
  tag: 'Charges' | 'Payouts' | 'Balance' | 'Account' | 'Webhooks';
  /** What the success answer holds. */
  answer: string;
  bodies?: Record<string, Example>;
  answers: Record<string, Example>;
  /** The `details` of this route's examples where they are not those of every route. */
  details?: Partial<Record<PublicErrorCode, readonly string[]>>;
};

const PAGING =
  'Newest first by creation time, without a total count. Continue while `has_more` is true, passing the id of the ' +
  'last item as `starting_after`. A date-time with an offset needs its `+` written as `%2B`.';
const REPLAY =
  'Repeating the call with the same `Idempotency-Key` returns the resource already created, with `Idempotent-Replayed`.';

const EVENTS_IS_NO_ID =
  'With this method `/v1/webhooks/events` names an endpoint that does not exist: `WEBHOOK_NOT_FOUND`.';

const CUSTOMER = { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' };

export const PUBLIC_ROUTE_TEXTS: Readonly<Record<keyof typeof PUBLIC_ROUTES, RouteText>> = {
  createCharge: {
    summary: 'Create a Pix charge',
    description:
      'Stores the charge, asks the acquirer for its Pix and answers with the copy-and-paste code. A refused charge ' +
      `exists too, with status \`failed\`. ${REPLAY}`,
    tag: 'Charges',
    answer: 'The charge, or the one that an earlier call with this key made.',
    bodies: {
      minimal: { summary: 'Required fields only', value: { amount: 100, customer: CUSTOMER } },
      full: {
        summary: 'Every field but the secret, which is yours to make',
        value: {
          amount: 12_345,
          method: 'pix',
          customer: { ...CUSTOMER, phone: '+55 11 99999-0000' },
          description: 'Order 1042',
          reference: 'order-1042',
          expires_in: 3_600,
          webhook_url: 'https://shop.example.com/hooks/pix',
        },
      },
    },
    answers: {
      created: { summary: 'Waiting for payment', value: examples.CHARGE },
      replayed_failed: {
        summary: 'Repeated key of a charge that the acquirer refused',
        value: examples.FAILED_CHARGE,
      },
    },
    details: { VALIDATION_ERROR: ['customer.email', 'expires_in'] },
  },
  getCharge: {
    summary: 'Read a charge',
    description: 'Charges of the account that were created through this API.',
    tag: 'Charges',
    answer: 'The charge as it is now.',
    answers: { paid: { summary: 'Paid', value: examples.PAID_CHARGE } },
  },
  listCharges: {
    summary: 'List charges',
    description: `Charges of the account that were created through this API. ${PAGING}`,
    tag: 'Charges',
    answer: 'One page of charges.',
    answers: { page: { summary: 'The last page', value: examples.CHARGE_PAGE } },
    details: { VALIDATION_ERROR: ['limit', 'status'] },
  },
  createPayout: {
    summary: 'Create a Pix payout',
    description:
      'Amount and fee leave the available balance at once. The payout waits for approval (`pending`) or goes to the ' +
      `acquirer (\`processing\`), as the account's \`auto_payout_enabled\` says. ${REPLAY}`,
    tag: 'Payouts',
    answer: 'The payout, or the one that an earlier call with this key made.',
    bodies: {
      minimal: {
        summary: 'Required fields only',
        value: { amount: 500, pix_key_type: 'cpf', pix_key: '529.982.247-25' },
      },
      full: {
        summary: 'Every field but the secret, which is yours to make',
        value: {
          amount: 5_000,
          pix_key_type: 'email',
          pix_key: 'Bruno@example.com',
          method: 'pix',
          recipient_name: 'Bruno Lima',
          recipient_document: '529.982.247-25',
          description: 'Supplier 77',
          reference: 'invoice-77',
          webhook_url: 'https://shop.example.com/hooks/payouts',
        },
      },
    },
    answers: {
      processing: { summary: 'Auto payout on', value: examples.PAYOUT },
      pending: {
        summary: 'Auto payout off',
        value: { ...examples.PAYOUT, status: 'pending' },
      },
    },
    details: { VALIDATION_ERROR: ['pix_key'] },
  },
  getPayout: {
    summary: 'Read a payout',
    description: 'Payouts of the account, those requested through the dashboard included.',
    tag: 'Payouts',
    answer: 'The payout as it is now.',
    answers: { completed: { summary: 'Completed', value: examples.COMPLETED_PAYOUT } },
  },
  listPayouts: {
    summary: 'List payouts',
    description: `Payouts of the account, those requested through the dashboard included. ${PAGING}`,
    tag: 'Payouts',
    answer: 'One page of payouts.',
    answers: { page: { summary: 'A page that others follow', value: examples.PAYOUT_PAGE } },
    details: { VALIDATION_ERROR: ['created_after'] },
  },
  getBalance: {
    summary: 'Read the balance',
    description: 'The balance of the account, all figures from one moment.',
    tag: 'Balance',
    answer: 'The balance as it is now.',
    answers: { balance: { summary: 'A balance', value: examples.BALANCE } },
  },
  getAccount: {
    summary: 'Read the account',
    description: 'The account that owns the key.',
    tag: 'Account',
    answer: 'The account as it is now.',
    answers: { account: { summary: 'An approved account', value: examples.ACCOUNT } },
  },
  listWebhooks: {
    summary: 'List webhook endpoints',
    description:
      'All endpoints of the calling application, newest first, in one answer; paging parameters are ignored.',
    tag: 'Webhooks',
    answer: 'All endpoints.',
    answers: { endpoints: { summary: 'One endpoint', value: examples.WEBHOOK_LIST } },
  },
  createWebhook: {
    summary: 'Register a webhook endpoint',
    description:
      'Receives the chosen events of all charges and payouts of the application from now on. At most 100 endpoints ' +
      'an application; one more is a `VALIDATION_ERROR`.',
    tag: 'Webhooks',
    answer: 'The endpoint.',
    bodies: {
      minimal: {
        summary: 'Required fields only',
        value: { url: 'https://shop.example.com/hooks', events: ['charge.pix.paid'] },
      },
      described: {
        summary: 'With a description; a `secret`, which is yours to make, signs the deliveries',
        value: {
          url: 'https://shop.example.com/hooks',
          events: ['charge.pix.paid', 'payment.pix.failed'],
          description: 'Orders',
        },
      },
    },
    answers: { registered: { summary: 'Active at once', value: examples.WEBHOOK } },
    details: { VALIDATION_ERROR: ['events', 'secret'], INVALID_WEBHOOK_URL: ['url'] },
  },
  updateWebhook: {
    summary: 'Update a webhook endpoint',
    description:
      'Fields that are absent stay as they are; an empty object changes nothing. Retries that are under way use the ' +
      'new URL and secret. A delivery that also serves a `webhook_url` stays at that URL when the URL of the endpoint ' +
      `is changed. ${EVENTS_IS_NO_ID}`,
    tag: 'Webhooks',
    answer: 'The endpoint as it is now.',
    bodies: {
      pause: { summary: 'Pause deliveries', value: { active: false } },
      replace: {
        summary: 'Other events, no signature',
        value: { events: ['charge.pix.paid', 'charge.pix.refunded'], secret: null },
      },
    },
    answers: { paused: { summary: 'Paused', value: { ...examples.WEBHOOK, active: false } } },
    details: { VALIDATION_ERROR: ['active'], INVALID_WEBHOOK_URL: ['url'] },
  },
  deleteWebhook: {
    summary: 'Remove a webhook endpoint',
    description: `Ends its deliveries, retries included. ${EVENTS_IS_NO_ID}`,
    tag: 'Webhooks',
    answer: 'Removed; no body.',
    answers: {},
  },
  listWebhookEvents: {
    summary: 'List the event catalog',
    description: 'Every event the platform knows, in one answer. Any valid key may call.',
    tag: 'Webhooks',
    answer: 'All events.',
    answers: { catalog: { summary: 'The whole catalog', value: examples.EVENT_LIST } },
  },
};
