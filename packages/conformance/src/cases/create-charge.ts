import { randomUUID } from 'node:crypto';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Charge } from '../client/schemas.ts';
import { it, section } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { bareCharge, REFUSAL_MESSAGE, refusedCharge } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { bodyCases } from './body-cases.ts';
import { secondsBetween } from './field-rows.ts';

const { accepts, refuses, misshapen, webhookCases } = bodyCases(
  (w, changes) => w.own.charges.post(changes),
  it,
);

export const CREATE_CHARGE_CASES = section('create-charge', [
  misshapen('amount.required', 'required', undefined),
  misshapen('amount.string', 'integer, no text', '1000'),
  misshapen('amount.fraction', 'integer (cents)', 100.5),
  misshapen('amount.boolean', 'integer, no boolean', true),
  misshapen('amount.null', 'required, not null', null),
  accepts('amount.minimum', 'minimum 100', 100),
  refuses('amount.below', '99 is below the minimum', [99, 'AMOUNT_BELOW_MINIMUM']),
  refuses('amount.zero', '0 is below the minimum', [0, 'AMOUNT_BELOW_MINIMUM']),
  refuses('amount.negative', 'a negative one is below the minimum', [-100, 'AMOUNT_BELOW_MINIMUM']),
  accepts('method.pix', '`pix`', 'pix'),
  it('method.default', '`method`: default `pix`', async (w) =>
    equal((await bareCharge(w)).method, 'pix', 'method'),
  ),
  refuses('method.other', 'only `pix`', ['boleto', 'METHOD_NOT_SUPPORTED']),
  misshapen('method.number', 'string', 7),
  it('customer.required', '`customer` is required', async (w) => {
    refused(await w.own.charges.post({ customer: undefined }), 'VALIDATION_ERROR');
  }),
  misshapen('customer.name.required', 'required', undefined),
  misshapen('customer.name.string', 'string', 7),
  accepts('customer.name.text', 'any name', 'É'.repeat(40)),
  misshapen('customer.email.required', 'required', undefined),
  misshapen('customer.email.string', 'string', ['ana@example.com']),
  ...['ana', 'ana@', '@example.com', 'ana example.com'].map((email) =>
    misshapen(`customer.email.not-${email.replaceAll(/\W/g, '_')}`, `valid, not "${email}"`, email),
  ),
  misshapen('customer.document.required', 'required', undefined),
  misshapen('customer.document.string', 'string', 52_998_224_725),
  ...Object.entries({
    'cpf-mask': '529.982.247-25',
    cpf: '52998224725',
    'cnpj-mask': '11.222.333/0001-81',
    cnpj: '11222333000181',
  }).map(([id, one]) =>
    accepts(`customer.document.${id}`, `CPF or CNPJ, with or without mask: ${one}`, one),
  ),
  ...Object.entries({
    'cpf-digits': '529.982.247-26',
    'cnpj-digits': '11.222.333/0001-82',
    repeated: '111.111.111-11',
    short: '5299822472',
    text: 'documento',
  }).map(([id, one]) =>
    refuses(`customer.document.not-${id}`, `check digits are validated: ${one}`, [
      one,
      'INVALID_DOCUMENT',
      ['customer.document'],
    ]),
  ),
  accepts('customer.phone', 'may be given', '+5511999990000'),
  misshapen('customer.phone.string', 'string', 5_511_999_990_000),
  accepts('description.longest', 'up to 140 characters', 'x'.repeat(140)),
  accepts('description.characters', '140 characters, not bytes', '😀'.repeat(140)),
  misshapen('description.longer', 'up to 140 characters', 'x'.repeat(141)),
  misshapen('description.string', 'string', 7),
  it('reference', '`reference`: may be given, comes back verbatim', async (w) => {
    const reference = `  Nº 7/${randomUUID()} ção  `;
    equal((await w.own.charges.create({ reference })).reference, reference, 'reference');
  }),
  misshapen('reference.string', 'string', {}),
  ...[60, 604_800].map((seconds) =>
    it(`expires_in.${seconds}`, `\`expires_in\`: 60 to 604800; ${seconds}`, async (w) => {
      const { created_at, expires_at } = await w.own.charges.create({ expires_in: seconds });
      equal(secondsBetween(created_at, expires_at), seconds, 'from created_at to expires_at');
    }),
  ),
  ...[59, 604_801, 60.5, '3600'].map((seconds) =>
    misshapen(
      `expires_in.not-${typeof seconds}-${seconds}`.replace('.5', '-5'),
      `integer from 60 to 604800, not ${JSON.stringify(seconds)}`,
      seconds,
    ),
  ),
  it('expires_in.default', '`expires_in` absent: the account default applies', async (w) => {
    const { expires_at, created_at } = await bareCharge(w);
    holds((expires_at ?? '') > created_at, 'an expiry', expires_at);
  }),
  it.admin('expires_in.account', '`expires_in` absent: the default is the account’s', async (w) => {
    const merchant = await w.admin.createAccount({ charge_expires_in: 7_200 });
    const { created_at, expires_at } = await merchant.charges.create();
    equal(secondsBetween(created_at, expires_at), 7_200, 'from created_at to expires_at');
  }),
  ...webhookCases,
  accepts('webhook_url.longest', 'up to 2048 characters', urlOfLength(2_048)),
  misshapen('webhook_url.longer', 'not more than 2048 characters', urlOfLength(2_049)),
  it(
    'url-before-issuing',
    '`INVALID_WEBHOOK_URL` is raised before any charge is issued',
    async (w) => {
      const [reference, key] = [randomUUID(), randomUUID()];
      const body = { reference, webhook_url: 'http://127.0.0.1/' };
      const { charge_id } = refused(await w.own.charges.post(body, key), 'INVALID_WEBHOOK_URL');
      equal(charge_id, undefined, 'no charge is named');
      const list = bodyWith(await w.own.call('GET /v1/charges?limit=100'), 200);
      holds(!JSON.stringify(list).includes(reference), 'no charge in the list', reference);
    },
  ),
  it('created', 'Response `201`: a charge object', async (w) => {
    shaped(Charge, bodyWith(await w.own.charges.post(), 201), 'the body of the 201');
  }),
  it('same-as-read', 'Response `201`: the object that a read gives', async (w) => {
    const { id } = await bareCharge(w);
    const created = await bareCharge(w);
    const read = await w.own.charges.read(id);
    equal({ ...created, status: read.status }, read, 'the charge of the 201 and of the GET');
  }),
  it.simulator('rejected', '`422` `ACQUIRER_REJECTED`', async (w) => {
    const { answer } = await refusedCharge(w);
    refused(answer, 'ACQUIRER_REJECTED');
  }),
  it.simulator('rejected-reason', '`ACQUIRER_REJECTED`: message relays its reason', async (w) => {
    const { answer } = await refusedCharge(w);
    const { message } = refused(answer, 422);
    holds(message.includes(REFUSAL_MESSAGE), `relays "${REFUSAL_MESSAGE}"`, message);
  }),
]);

function urlOfLength(length: number): string {
  const start = 'https://hooks.receiver.example.com/';
  return start + 'x'.repeat(length - start.length);
}
