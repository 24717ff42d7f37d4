import { describe, expect, test } from 'vitest';

import { type Change, changesAfter, createCharge, errorOf, type Loose } from './plant-change.ts';

test('a document breaks nothing of itself', () => {
  expect(changesAfter(() => {})).toEqual([]);
});

describe('is refused within v1:', () => {
  test.each<[string, string, Change]>([
    [
      'a route removed',
      'DELETE /v1/webhooks/{id}: removed',
      (document) => delete document.paths['/v1/webhooks/{id}'].delete,
    ],
    [
      'a path renamed',
      'GET /v1/balance: removed',
      (document) => {
        document.paths['/v1/balances'] = document.paths['/v1/balance'];
        delete document.paths['/v1/balance'];
      },
    ],
    [
      'an operation renamed',
      'GET /v1/balance: operationId renamed',
      (document) => {
        document.paths['/v1/balance'].get.operationId = 'readBalance';
      },
    ],
    [
      'another scope',
      'needs scope account:read now',
      (document) => {
        document.paths['/v1/balance'].get['x-scope'] = 'account:read';
      },
    ],
    [
      'a scope where none was',
      'needs scope webhook:read now',
      (document) => {
        document.paths['/v1/webhooks/events'].get['x-scope'] = 'webhook:read';
      },
    ],
    [
      'another success status',
      'POST /v1/charges 201: removed',
      (document) => {
        const { responses } = createCharge(document) as Loose;
        responses['202'] = responses['201'];
        delete responses['201'];
      },
    ],
    [
      'a code removed',
      '422: code ACQUIRER_REJECTED removed',
      (document) => {
        const { content } = errorOf(document, createCharge(document), '422');
        delete content['application/json'].examples.ACQUIRER_REJECTED;
      },
    ],
    [
      'a code under another status',
      '422: code PAYOUTS_DISABLED removed',
      (document) => {
        const operation = document.paths['/v1/payouts'].post;
        const examplesOf = (status: string) =>
          errorOf(document, operation, status).content['application/json'].examples;
        const from = examplesOf('422');
        examplesOf('400').PAYOUTS_DISABLED = from.PAYOUTS_DISABLED;
        delete from.PAYOUTS_DISABLED;
      },
    ],
    [
      'a header of an answer removed',
      'header Idempotent-Replayed: removed',
      (document) => {
        delete (createCharge(document).responses['201'] as Loose).headers['Idempotent-Replayed'];
      },
    ],
    [
      'a field of an answer removed',
      '.paid_at: removed',
      (_document, schemas) => {
        delete schemas.Charge.properties.paid_at;
      },
    ],
    [
      'a field of an answer renamed',
      '.fee: removed',
      (_document, { Payout }) => {
        Payout.properties.tariff = Payout.properties.fee;
        delete Payout.properties.fee;
      },
    ],
    [
      'a nested field removed',
      '.pix.br_code: removed',
      (_document, schemas) => {
        delete schemas.Charge.properties.pix.properties.br_code;
      },
    ],
    [
      'a field of an answer that may be missing',
      '.reference: may be missing now',
      (_document, { Charge }) => {
        Charge.required = Charge.required.filter((name: string) => name !== 'reference');
      },
    ],
    [
      'a field of an answer that may be null',
      '.amount: type changed',
      (_document, { Charge }) => {
        Charge.properties.amount.type = ['integer', 'null'];
      },
    ],
    [
      'another type of an answer',
      '.available: type changed from "integer" to "string"',
      (_document, { Balance }) => {
        Balance.properties.available = { type: 'string' };
      },
    ],
    [
      'an integer that became a number',
      '.available: type changed',
      (_document, { Balance }) => {
        Balance.properties.available.type = 'number';
      },
    ],
    [
      'an open list of values that became numbers',
      '.status: type changed from "string" to "integer"',
      (_document, { Charge }) => {
        Charge.properties.status.type = 'integer';
      },
    ],
    [
      'another type of list items',
      'data[].events[]: type changed',
      (_document, { Webhook }) => {
        Webhook.properties.events.items = { type: 'object' };
      },
    ],
    [
      'another format of an answer',
      '.id: format changed',
      (_document, { Charge }) => {
        delete Charge.properties.id.format;
      },
    ],
    [
      'another name of a kind',
      '"charge" became ["invoice"]',
      (_document, { Charge }) => {
        Charge.properties.object.const = 'invoice';
      },
    ],
    [
      'a new required field of a body',
      '.tax_id: required now',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.tax_id = { type: 'string' };
        CreateCharge.required.push('tax_id');
      },
    ],
    [
      'an optional field that became required',
      '.reference: required now',
      (_document, { CreatePayout }) => {
        CreatePayout.required.push('reference');
      },
    ],
    [
      'a field of a body removed',
      '.expires_in: removed',
      (_document, { CreateCharge }) => {
        delete CreateCharge.properties.expires_in;
      },
    ],
    [
      'null that is no longer taken',
      '.description: type changed',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.description.type = 'string';
      },
    ],
    [
      'a value of a body no longer taken',
      '.pix_key_type: "random" is no longer taken',
      (_document, { PixKeyType }) => {
        PixKeyType.enum = PixKeyType.enum.filter((value: string) => value !== 'random');
      },
    ],
    [
      'a list of values where any was taken',
      '.reference: only ["a"] taken now',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.reference.enum = ['a'];
      },
    ],
    [
      'a higher minimum',
      '.amount: minimum went from 100 to 200',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.amount.minimum = 200;
      },
    ],
    [
      'a lower maximum',
      '.expires_in: maximum went from 604800 to 86400',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.expires_in.maximum = 86_400;
      },
    ],
    [
      'a shorter text',
      '.description: maxLength',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.description.maxLength = 100;
      },
    ],
    [
      'a limit where none was',
      '.events: maxItems went from none to 5',
      (_document, { CreateWebhook }) => {
        CreateWebhook.properties.events.maxItems = 5;
      },
    ],
    [
      'another pattern',
      '.reference: pattern changed',
      (_document, { CreatePayout }) => {
        CreatePayout.properties.reference.pattern = '^[a-z]*$';
      },
    ],
    [
      'a closed body',
      'additionalProperties changed to false',
      (_document, { CreateWebhook }) => {
        CreateWebhook.additionalProperties = false;
      },
    ],
    [
      'a query parameter removed',
      'query created_after: removed',
      (document) => {
        const list = document.paths['/v1/charges'].get;
        list.parameters = list.parameters.filter(({ name }: Loose) => name !== 'created_after');
      },
    ],
    [
      'a query parameter that became required',
      'query status: required now',
      (document) => {
        const list = document.paths['/v1/charges'].get;
        list.parameters.find(({ name }: Loose) => name === 'status').required = true;
      },
    ],
    [
      'a new required header',
      'header X-Tenant: required now',
      (document) => {
        const { parameters = [] } = document.paths['/v1/balance'].get;
        const header = {
          name: 'X-Tenant',
          in: 'header',
          required: true,
          schema: { type: 'string' },
        };
        document.paths['/v1/balance'].get.parameters = [...parameters, header];
      },
    ],
    [
      'another default of a page',
      'query limit: default changed',
      (document) => {
        const list = document.paths['/v1/charges'].get;
        list.parameters.find(({ name }: Loose) => name === 'limit').schema.default = 50;
      },
    ],
    [
      'a form of an instant no longer taken',
      'query created_after: alternatives changed',
      (document) => {
        const list = document.paths['/v1/payouts'].get;
        list.parameters.find(({ name }: Loose) => name === 'created_after').schema.anyOf.pop();
      },
    ],
    [
      'an event removed',
      'POST charge.pix.paid: removed',
      (document) => delete document.webhooks['charge.pix.paid'],
    ],
    [
      'an event that is no longer delivered',
      'charge.pix.paid: no longer delivered',
      (document) => {
        document.webhooks['charge.pix.paid'].post['x-dispatched'] = false;
      },
    ],
    [
      'a field of an event removed',
      '.data.reason: removed',
      (_document, { Dispute }) => {
        delete Dispute.properties.reason;
      },
    ],
    [
      'a header of deliveries removed',
      'X-Webhook-Event: removed',
      (document) => {
        document.webhooks['charge.pix.paid'].post.parameters.shift();
      },
    ],
  ])('%s', (_name, expected, change) => {
    const changes = changesAfter(change);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.join('\n')).toContain(expected);
  });
});
