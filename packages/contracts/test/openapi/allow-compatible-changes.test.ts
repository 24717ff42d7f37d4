import { describe, expect, test } from 'vitest';

import { type Change, changesAfter, createCharge, errorOf } from './plant-change.ts';

describe('is allowed within v1:', () => {
  test.each<[string, Change]>([
    [
      'a new route',
      (document) => {
        document.paths['/v1/disputes'] = { get: document.paths['/v1/balance'].get };
      },
    ],
    [
      'a new field of an answer',
      (_document, { Charge }) => {
        Charge.properties.refunded_amount = { type: 'integer' };
        Charge.required.push('refunded_amount');
      },
    ],
    [
      'a new value of an answer',
      (_document, { Account, ChargeStatus }) => {
        Account.properties.status['x-extensible-enum'].push('closed');
        ChargeStatus.enum.push('disputed');
      },
    ],
    [
      'a fixed value of an answer that became an open list',
      (_document, { Charge }) => {
        Charge.properties.currency = { type: 'string', 'x-extensible-enum': ['BRL'] };
      },
    ],
    [
      'a second payment method',
      (_document, { Charge, CreateCharge }) => {
        Charge.properties.method = { type: 'string', enum: ['pix', 'boleto'] };
        CreateCharge.properties.method.enum.push('boleto');
      },
    ],
    [
      'a new optional field of a body',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.tags = { type: 'array', items: { type: 'string' } };
      },
    ],
    [
      'a field of a body that became optional',
      (_document, { CreateCharge }) => {
        CreateCharge.required = ['amount'];
      },
    ],
    [
      'wider limits',
      (_document, { CreateCharge }) => {
        CreateCharge.properties.amount.minimum = 1;
        delete CreateCharge.properties.description.maxLength;
        delete CreateCharge.properties.reference.pattern;
      },
    ],
    [
      'a new code',
      (document) => {
        const { content } = errorOf(document, createCharge(document), '422');
        content['application/json'].examples.DUPLICATE = { value: {} };
      },
    ],
    [
      'a new optional parameter and a new event',
      (document) => {
        document.paths['/v1/charges'].get.parameters.push({
          name: 'reference',
          in: 'query',
          required: false,
          schema: { type: 'string' },
        });
        document.webhooks['charge.pix.disputed'] = document.webhooks['charge.pix.paid'];
      },
    ],
    [
      'an event that is delivered from now on',
      (document) => {
        document.webhooks['payment.pix.completed'].post['x-dispatched'] = true;
      },
    ],
    [
      'an answer that is never null any more',
      (_document, { Charge }) => {
        Charge.properties.expires_at.type = 'string';
      },
    ],
    [
      'the same schema under another name',
      (document, schemas) => {
        schemas.Endpoint = schemas.Webhook;
        delete schemas.Webhook;
        const text = JSON.stringify(document).replaceAll('schemas/Webhook"', 'schemas/Endpoint"');
        Object.assign(document, JSON.parse(text));
      },
    ],
    [
      'other texts',
      (document, { Charge }) => {
        document.info.description = 'Other words.';
        Charge.properties.amount.description = 'Other words.';
      },
    ],
  ])('%s', (_name, change) => {
    expect(changesAfter(change)).toEqual([]);
  });
});
