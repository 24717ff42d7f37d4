import { readFileSync, writeFileSync } from 'node:fs';

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';

import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { ChargeStatus } from '../http/charge.ts';
import { ERROR_STATUS } from '../http/error-body.ts';
import type { PaymentSnapshot } from '../http/payout.ts';
import { PUBLIC_ROUTES, type PublicRoute } from '../http/public-routes.ts';
import { toTemplate } from './build-operation.ts';
import { buildPublicDocument } from './build-public-document.ts';
import type { Content, HttpMethod, JsonSchema, Operation, Response } from './document.ts';
import { codesOfResponse, resolveResponse } from './resolve-response.ts';
import { findBreakingChanges } from '../../test/openapi/find-breaking-changes.ts';

const GOLDEN = new URL('../../../../docs/openapi/public.json', import.meta.url);
const BASELINE = new URL('../../../../docs/openapi/v1-baseline.json', import.meta.url);

const document = buildPublicDocument();
const routes = Object.entries<PublicRoute>(PUBLIC_ROUTES);

/** Strict where documents go wrong: unknown keywords and formats fail. */
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
(ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addVocabulary(['components', 'x-extensible-enum']);
ajv.addSchema({ $id: 'document:', components: document.components });

function operationOf({ method, path }: PublicRoute): Operation {
  const operation = document.paths[toTemplate(path)]?.[method.toLowerCase() as HttpMethod];
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  return operation;
}

function responsesOf({ responses }: Operation): [string, Response][] {
  return Object.entries(responses).map(([status, response]) => [
    status,
    resolveResponse(response, document),
  ]);
}

/** Names of the components that any of the values refers to, near or far. */
function reachableFrom(values: unknown, found: Set<string> = new Set()): Set<string> {
  for (const [, name = ''] of JSON.stringify(values).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reachableFrom(document.components.schemas[name], found);
  }
  return found;
}

function faultsOf(schema: JsonSchema, value: unknown): unknown[] {
  const absolute = JSON.stringify(schema).replaceAll('"#/', '"document:#/');
  const validate = ajv.compile(JSON.parse(absolute) as JsonSchema);
  return validate(value) ? [] : (validate.errors ?? []);
}

test('is OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result).toMatchObject({ valid: true });
});

test('stands in git as it is served (UPDATE_GOLDEN=1 refreshes it)', () => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
  expect(readFileSync(GOLDEN, 'utf8')).toBe(text);
});

test('breaks nothing that the first release of v1 promised', () => {
  const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as typeof document;
  expect(findBreakingChanges(baseline, document)).toEqual([]);
});

test('every component is used, and no name stands for two forms', () => {
  const text = JSON.stringify(document);
  for (const name of Object.keys(document.components.schemas)) {
    expect(text).toMatch(
      new RegExp(`"#/components/schemas/${name}"|Known values(: | \\()\`${name}\``),
    );
    expect(name).not.toMatch(/(Input|Output)$/);
  }
});

test('objects stay open on both sides: fields may be added within v1', () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
});

test('every list of values of an answer takes any text beside the known ones', () => {
  const { schemas } = document.components;
  const described = routes.map(([, route]) => responsesOf(operationOf(route)));
  const answers = [...reachableFrom([described, document.webhooks])];
  expect(answers).toEqual(
    expect.arrayContaining(['Charge', 'Dispute', 'EventCatalogEntry', 'Error']),
  );
  expect(schemas['Charge']?.['properties']).toMatchObject({
    status: { type: 'string', 'x-extensible-enum': ChargeStatus.options },
  });
  expect(answers.filter((name) => JSON.stringify(schemas[name]).includes('"enum"'))).toEqual([]);
});

test('bodies and filters of requests take known values only', () => {
  const { CreateWebhook = {}, PixKeyType = {} } = document.components.schemas;
  expect(faultsOf(PixKeyType, 'of_tomorrow')).not.toEqual([]);
  expect(
    faultsOf(CreateWebhook, { url: 'https://a.example', events: ['of.tomorrow'] }),
  ).not.toEqual([]);
  const filters = Object.values(document.paths)
    .flatMap(({ get }) => get?.parameters ?? [])
    .filter(({ name }) => name === 'status');
  expect(filters).toHaveLength(2);
  for (const { schema } of filters) expect(faultsOf(schema, 'of_tomorrow')).not.toEqual([]);
});

test('every error is a response by name, with a body by name', () => {
  for (const [, route] of routes) {
    const { responses } = operationOf(route);
    for (const [status, response] of Object.entries(responses)) {
      if (status < '400') continue;
      expect(response).toEqual({ $ref: expect.stringMatching(/^#\/components\/responses\/\w+$/) });
    }
  }
  const bodies = Object.values(document.components.responses ?? {}).map(
    ({ content }) => content?.['application/json'].schema['$ref'],
  );
  expect([...new Set(bodies)].toSorted()).toEqual([
    '#/components/schemas/ChargeError',
    '#/components/schemas/Error',
  ]);
});

test('no example holds a credential, and that of a key names an operation and not an attempt', () => {
  const text = JSON.stringify(document);
  expect(text).not.toMatch(/whsec|"(webhook_)?secret":"/);
  const keys = [...text.matchAll(/"example":"([^"]+)"/g)].map(([, example]) => example);
  expect([...new Set(keys)]).toEqual(['order-1042']);
});

describe.each(routes)('%s', (key, route) => {
  const operation = operationOf(route);

  test('carries the table: name, scope, success status, key of a creation', () => {
    expect(operation).toMatchObject({ operationId: key, 'x-scope': route.scope });
    expect(operation.description).toContain(route.scope ?? 'any valid key');
    expect(Object.keys(operation.responses).filter((status) => status < '300')).toEqual([
      String(route.status),
    ]);
    const names = new Set((operation.parameters ?? []).map(({ name }) => name));
    expect(names.has('Idempotency-Key')).toBe(route.creates !== null);
    expect(names.has('limit')).toBe(route.query !== null);
  });

  test('shows one example for every code that it may answer, under its status', () => {
    const shown = responsesOf(operation)
      .filter(([status]) => status >= '400')
      .flatMap(([status, response]) => codesOfResponse(response).map((code) => [code, status]));
    const codes = [
      ...route.errors,
      'UNAUTHORIZED',
      ...(route.scope === null ? [] : ['INSUFFICIENT_SCOPE']),
      'RATE_LIMITED',
      'INTERNAL_ERROR',
    ] as (keyof typeof ERROR_STATUS)[];
    expect(shown.toSorted()).toEqual(
      codes.map((code) => [code, String(ERROR_STATUS[code])]).toSorted(),
    );
  });

  test('all its examples are what its schemas say', () => {
    const contents = responsesOf(operation).map(([, { content }]) => content);
    for (const content of [operation.requestBody?.content, ...contents]) {
      for (const [, { value }] of examplesOf(content)) {
        expect(faultsOf(content?.['application/json'].schema ?? {}, value)).toEqual([]);
      }
    }
  });

  test('examples of bodies are taken by the validator itself, and have one at least', () => {
    const examples = examplesOf(operation.requestBody?.content);
    for (const [, { value }] of examples) {
      expect(route.body?.safeParse(value)).toMatchObject({ success: true });
    }
    expect(examples.length > 0).toBe(route.body !== null);
  });
});

describe.each(EVENT_CATALOGUE.map((entry) => [entry.event, entry] as const))(
  '%s',
  (event, entry) => {
    const delivery = document.webhooks?.[event]?.post as Operation;

    test('is described, with what is delivered now and what is never made', () => {
      expect(delivery).toMatchObject({
        'x-dispatched': entry.dispatched,
        'x-produced': event.includes('.pix.'),
      });
      expect((delivery.parameters ?? []).map(({ name }) => name)).toEqual([
        'X-Webhook-Event',
        'X-Webhook-Resource',
        'X-Webhook-Method',
        'X-Webhook-Delivery',
        'X-Webhook-Signature',
      ]);
    });

    test('its example is what its schema says', () => {
      const content = delivery.requestBody?.content;
      for (const [, { value }] of examplesOf(content)) {
        expect(faultsOf(content?.['application/json'].schema ?? {}, value)).toEqual([]);
        expect(value).toMatchObject({ event, data: { id: expect.any(String) as string } });
      }
    });
  },
);

test('no example shows a charge or payout in a state that cannot exist', () => {
  const shown = [...resourcesIn(document)];
  expect(shown.length).toBeGreaterThan(15);
  for (const resource of shown) {
    const isFailed = resource.status === 'failed';
    const isPaid = PAID.has(resource.status);
    const isCompleted = resource.status === 'completed';
    expect(filledIn(resource)).toMatchObject(
      resource.object === 'charge'
        ? {
            failure_reason: isFailed,
            br_code: !isFailed && resource.status !== 'processing',
            expires_at: !isFailed,
            paid_at: isPaid,
            end_to_end_id: isPaid,
            returned: resource.status === 'refunded',
          }
        : {
            failure_reason: isFailed,
            end_to_end_id: isCompleted,
            ...(isCompleted ? { processed_at: true } : {}),
          },
    );
  }
});

test('a payout is sent to the acquirer between its first event and the next one', () => {
  const sentAt = (action: string): unknown => {
    const content = document.webhooks?.[`payment.pix.${action}`]?.post?.requestBody?.content;
    return examplesOf(content).map(([, { value }]) => (value as Delivery).data.processed_at);
  };
  expect(sentAt('created')).toEqual([null]);
  expect(sentAt('processing')).toEqual([expect.any(String)]);
});

test('leads from what a route made to the routes that take its id', () => {
  const linked = (path: string) => {
    const created = document.paths[path]?.post?.responses['201'] as Response | undefined;
    return Object.keys(created?.links ?? {});
  };
  expect(linked('/v1/charges')).toEqual(['getCharge']);
  expect(linked('/v1/payouts')).toEqual(['getPayout']);
  expect(linked('/v1/webhooks')).toEqual(['updateWebhook', 'deleteWebhook']);
});

test('describes the 37 events of the catalogue and no other', () => {
  expect(Object.keys(document.webhooks ?? {})).toEqual(EVENT_CATALOGUE.map(({ event }) => event));
});

const PAID: ReadonlySet<string> = new Set(['paid', 'refunded', 'charged_back', 'infraction']);

type Shown = { object: string; status: string; pix?: object } & Record<string, unknown>;
type Delivery = { data: PaymentSnapshot };

/** Every charge and payout that is written out in it. */
function* resourcesIn(value: unknown): Generator<Shown> {
  if (typeof value !== 'object' || value === null) return;
  const { object } = value as { object?: unknown };
  if (['charge', 'payout', 'payment'].includes(object as string)) yield value as Shown;
  for (const inner of Object.values(value)) yield* resourcesIn(inner);
}

/** Which of its fields are filled, and whether all of its money went back. */
function filledIn(resource: Shown): Record<string, boolean> {
  const fields = Object.entries({ ...resource, ...resource.pix });
  return {
    ...Object.fromEntries(fields.map(([name, value]) => [name, value !== null])),
    returned: resource['refunded_amount'] === resource['amount'],
  };
}

function examplesOf(content: Content | undefined) {
  return Object.entries(content?.['application/json'].examples ?? {});
}

/** Codes that the specification names for a route beside 401, 403 and 500. */
test.each([
  [
    'createCharge',
    'VALIDATION_ERROR INVALID_DOCUMENT METHOD_NOT_SUPPORTED IDEMPOTENCY_KEY_REQUIRED AMOUNT_BELOW_MINIMUM INVALID_WEBHOOK_URL ACQUIRER_REJECTED',
  ],
  ['getCharge', 'CHARGE_NOT_FOUND'],
  ['listCharges', ''],
  [
    'createPayout',
    'AMOUNT_BELOW_MINIMUM INSUFFICIENT_BALANCE VALIDATION_ERROR METHOD_NOT_SUPPORTED IDEMPOTENCY_KEY_REQUIRED PAYOUTS_DISABLED INVALID_WEBHOOK_URL',
  ],
  ['getPayout', 'PAYOUT_NOT_FOUND'],
  ['createWebhook', 'INVALID_WEBHOOK_URL'],
  ['updateWebhook', 'WEBHOOK_NOT_FOUND'],
  ['deleteWebhook', 'WEBHOOK_NOT_FOUND'],
] as const)('%s shows every code that the specification lists for it', (key, codes) => {
  const shown = responsesOf(operationOf(PUBLIC_ROUTES[key])).flatMap(([, response]) =>
    codesOfResponse(response),
  );
  const everywhere = ['UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'INTERNAL_ERROR'];
  expect(shown).toEqual(
    expect.arrayContaining([...everywhere, ...codes.split(' ').filter((code) => code !== '')]),
  );
});
