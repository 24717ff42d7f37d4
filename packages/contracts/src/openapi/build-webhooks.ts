import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { ChargeEvent, DisputeEvent, PaymentEvent, WebhookEvent } from '../http/webhook-event.ts';
import type { DocumentSchemas } from './build-schemas.ts';
import type { JsonSchema, Operation, Parameter, PathItem } from './document.ts';
import {
  CHARGE,
  COMPLETED_PAYMENT,
  DISPUTE,
  FAILED_CHARGE,
  PAID_CHARGE,
  PAYMENT,
} from './resource-examples.ts';

type CatalogueEntry = (typeof EVENT_CATALOGUE)[number];

const DELIVERY_ID = '0190b6a4-8d2f-7c63-8b2e-3f71a2d9b00c';
const ASSEMBLED_AT = '2026-11-20T15:31:02.345Z';

/** The deliveries of the whole catalogue, one entry for each event name. */
export function buildWebhooks(schemas: DocumentSchemas): Record<string, PathItem> {
  return Object.fromEntries(
    EVENT_CATALOGUE.map((entry) => [entry.event, { post: buildDelivery(entry, schemas) }]),
  );
}

function buildDelivery(entry: CatalogueEntry, schemas: DocumentSchemas): Operation {
  // Boleto, card and TED stand in the catalogue; nothing makes such resources (decision 206).
  const produced = entry.method === 'pix';
  return {
    operationId: entry.event,
    summary: entry.event,
    description: describeDelivery(entry, produced),
    tags: ['Events'],
    security: [],
    'x-dispatched': entry.dispatched,
    'x-produced': produced,
    parameters: describeHeaders(entry),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: schemaOf(entry, produced, schemas),
          examples: produced ? { delivery: { value: exampleOf(entry) } } : {},
        },
      },
    },
    responses: {
      '2XX': {
        description:
          'Received. Any status 200 to 299, within 10 seconds; the body is not looked at.',
      },
      default: {
        description:
          'Anything else, a timeout or a connection error is a failure: the delivery is repeated after 1, 5 and 15 ' +
          'minutes, 1, 3, 6 and 12 hours.',
      },
    },
  };
}

function describeDelivery(
  { event, dispatched, description }: CatalogueEntry,
  produced: boolean,
): string {
  const facts = [
    `Meaning: ${description}.`,
    dispatched ? null : 'Not emitted yet: follow the state by reading the resource.',
    produced ? null : 'Not produced: v1 makes no resources of this method.',
    event === 'dispute.pix.message' ? 'The text is in `data.message`.' : null,
    'Order is not guaranteed; the `status` in `data` is authoritative.',
  ];
  return facts.filter((fact) => fact !== null).join(' ');
}

function describeHeaders({ event, resource, method }: CatalogueEntry): Parameter[] {
  return [
    header('X-Webhook-Event', 'Full event name.', { type: 'string', const: event }),
    header('X-Webhook-Resource', 'First part of the name.', { type: 'string', const: resource }),
    header('X-Webhook-Method', 'Second part of the name.', { type: 'string', const: method }),
    header('X-Webhook-Delivery', 'Delivery id; the same on every retry.', {
      type: 'string',
      format: 'uuid',
    }),
    {
      ...header(
        'X-Webhook-Signature',
        'HMAC SHA-256 of the exact raw body under the secret; present only when a secret exists. Compute it before ' +
          'parsing and compare in constant time; refuse a mismatch with 401.',
        { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
      ),
      required: false,
    },
  ];
}

function header(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'header', required: true, description, schema };
}

/** The envelope of the resource, narrowed to this one name. */
function schemaOf(
  { event, resource, method, action }: CatalogueEntry,
  produced: boolean,
  schemas: DocumentSchemas,
): JsonSchema {
  const byResource = { charge: ChargeEvent, payment: PaymentEvent, dispute: DisputeEvent };
  const envelope = produced ? byResource[resource as keyof typeof byResource] : WebhookEvent;
  return {
    allOf: [
      schemas.refTo(envelope),
      {
        type: 'object',
        properties: {
          event: { type: 'string', const: event },
          resource: { type: 'string', const: resource },
          method: { type: 'string', const: method },
          action: { type: 'string', const: action },
        },
      },
    ],
  };
}

function exampleOf(entry: CatalogueEntry): object {
  const { event, resource, method, action } = entry;
  const name = { event, resource, method, action };
  const data = dataOf(entry);
  return { id: DELIVERY_ID, object: 'event', ...name, created_at: ASSEMBLED_AT, data };
}

/** The resource in the state that the event announces. */
function dataOf({ resource, action }: CatalogueEntry): object {
  if (resource === 'charge') return chargeAfter(action);
  if (resource === 'dispute') return disputeAfter(action);
  return paymentAfter(action);
}

function paymentAfter(action: string): object {
  const { processed_at } = COMPLETED_PAYMENT;
  switch (action) {
    case 'created':
      return PAYMENT;
    case 'processing':
      return { ...PAYMENT, processed_at };
    case 'completed':
      return COMPLETED_PAYMENT;
    case 'failed':
      return {
        ...PAYMENT,
        status: action,
        processed_at,
        failure_reason: 'AC03: the account of the recipient is invalid',
      };
    default:
      return { ...PAYMENT, status: action };
  }
}

function chargeAfter(action: string): object {
  switch (action) {
    case 'created':
    case 'emitted':
      return CHARGE;
    case 'failed':
      return FAILED_CHARGE;
    case 'refunded':
      return { ...PAID_CHARGE, status: action, refunded_amount: PAID_CHARGE.amount };
    case 'expired':
    case 'canceled':
      return { ...CHARGE, status: action };
    default:
      return { ...PAID_CHARGE, status: action };
  }
}

function disputeAfter(action: string): object {
  switch (action) {
    case 'message':
      return { ...DISPUTE, status: 'under_review', message: 'Please send the proof of delivery.' };
    case 'won':
      return { ...DISPUTE, status: 'won', resolved_at: '2026-11-27T18:00:00.000Z' };
    case 'lost':
      return {
        ...DISPUTE,
        status: 'lost',
        returned_amount: DISPUTE.amount,
        resolved_at: '2026-11-27T18:00:00.000Z',
      };
    default:
      return DISPUTE;
  }
}
