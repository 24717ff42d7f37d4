import { randomUUID } from 'node:crypto';

import { Charge } from '../client/schemas.ts';
import { type ObservedCase, section, it, faulty } from '../suite/case.ts';
import { equal, holds, shaped } from '../client/expectations.ts';
import { bareCharge, REFUSAL_MESSAGE, refusedCharge } from '../world/fixtures.ts';
import {
  aChargeBody,
  bodyWith,
  createCharge,
  CUSTOMER,
  postCharge,
  readCharge,
} from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { PRIVATE_URLS, shapeFault } from './field-faults.ts';

const NAME_LENGTH = 40;

function accepts(id: string, sentence: string, changes: object): ObservedCase {
  return it(id, sentence, async (w) => {
    bodyWith(await postCharge(w.own, aChargeBody(changes)), 201);
  });
}

function refuses(
  id: string,
  sentence: string,
  [changes, refusal]: readonly [object, Refusal],
): ObservedCase {
  return it(id, sentence, async (w) => {
    refused(await postCharge(w.own, aChargeBody(changes)), refusal);
  });
}

function customer(changes: object): object {
  return { customer: { ...CUSTOMER, ...changes } };
}

const BELOW: Refusal = { status: 400, code: 'AMOUNT_BELOW_MINIMUM' };
const NO_DOCUMENT: Refusal = {
  status: 400,
  code: 'INVALID_DOCUMENT',
  details: ['customer.document'],
};
const NO_METHOD: Refusal = { status: 400, code: 'METHOD_NOT_SUPPORTED' };
const NO_URL: Refusal = { status: 422, code: 'INVALID_WEBHOOK_URL' };

export const CREATE_CHARGE_CASES = section('create-charge', [
  refuses('amount.required', '`amount`: required', [{ amount: undefined }, shapeFault('amount')]),
  refuses('amount.string', '`amount`: integer, no text', [
    { amount: '1000' },
    shapeFault('amount'),
  ]),
  refuses('amount.fraction', '`amount`: integer (cents)', [
    { amount: 100.5 },
    shapeFault('amount'),
  ]),
  refuses('amount.boolean', '`amount`: integer, no boolean', [
    { amount: true },
    shapeFault('amount'),
  ]),
  refuses('amount.null', '`amount`: required, not null', [{ amount: null }, shapeFault('amount')]),
  accepts('amount.minimum', '`amount`: minimum 100', { amount: 100 }),
  refuses('amount.below', '`amount`: 99 is below the minimum', [{ amount: 99 }, BELOW]),
  refuses('amount.zero', '`amount`: 0 is below the minimum', [{ amount: 0 }, BELOW]),
  refuses('amount.negative', '`amount`: a negative one is below the minimum', [
    { amount: -100 },
    BELOW,
  ]),
  accepts('method.pix', '`method`: `pix`', { method: 'pix' }),
  it('method.default', '`method`: default `pix`', async (w) =>
    equal((await bareCharge(w)).method, 'pix', 'method'),
  ),
  refuses('method.other', '`method`: only `pix`', [{ method: 'boleto' }, NO_METHOD]),
  refuses('method.number', '`method`: string', [{ method: 7 }, shapeFault('method')]),
  refuses('customer.required', '`customer` is required', [
    { customer: undefined },
    { status: 400, code: 'VALIDATION_ERROR' },
  ]),
  refuses('customer.name.required', '`customer.name`: required', [
    customer({ name: undefined }),
    shapeFault('customer.name'),
  ]),
  refuses('customer.name.string', '`customer.name`: string', [
    customer({ name: 7 }),
    shapeFault('customer.name'),
  ]),
  accepts(
    'customer.name.text',
    '`customer.name`: any name',
    customer({ name: 'É'.repeat(NAME_LENGTH) }),
  ),
  refuses('customer.email.required', '`customer.email`: required', [
    customer({ email: undefined }),
    shapeFault('customer.email'),
  ]),
  refuses('customer.email.string', '`customer.email`: string', [
    customer({ email: ['ana@example.com'] }),
    shapeFault('customer.email'),
  ]),
  ...['ana', 'ana@', '@example.com', 'ana example.com'].map((email) =>
    refuses(
      `customer.email.not-${email.replaceAll(/\W/g, '_')}`,
      `\`customer.email\`: valid, not "${email}"`,
      [customer({ email }), shapeFault('customer.email')],
    ),
  ),
  refuses('customer.document.required', '`customer.document`: required', [
    customer({ document: undefined }),
    shapeFault('customer.document'),
  ]),
  refuses('customer.document.string', '`customer.document`: string', [
    customer({ document: 52_998_224_725 }),
    shapeFault('customer.document'),
  ]),
  ...[
    ['cpf-mask', '529.982.247-25'],
    ['cpf', '52998224725'],
    ['cnpj-mask', '11.222.333/0001-81'],
    ['cnpj', '11222333000181'],
  ].map(([id = '', document = '']) =>
    accepts(
      `customer.document.${id}`,
      `\`customer.document\`: CPF or CNPJ, with or without mask: ${document}`,
      customer({ document }),
    ),
  ),
  ...[
    ['cpf-digits', '529.982.247-26'],
    ['cnpj-digits', '11.222.333/0001-82'],
    ['repeated', '111.111.111-11'],
    ['short', '5299822472'],
    ['text', 'documento'],
  ].map(([id = '', document = '']) =>
    refuses(
      `customer.document.not-${id}`,
      `\`customer.document\`: check digits are validated: ${document}`,
      [customer({ document }), NO_DOCUMENT],
    ),
  ),
  accepts(
    'customer.phone',
    '`customer.phone`: may be given',
    customer({ phone: '+5511999990000' }),
  ),
  refuses('customer.phone.string', '`customer.phone`: string', [
    customer({ phone: 5_511_999_990_000 }),
    shapeFault('customer.phone'),
  ]),
  accepts('description.longest', '`description`: up to 140 characters', {
    description: 'x'.repeat(140),
  }),
  accepts('description.characters', '`description`: 140 characters, not bytes', {
    description: '😀'.repeat(140),
  }),
  refuses('description.longer', '`description`: up to 140 characters', [
    { description: 'x'.repeat(141) },
    shapeFault('description'),
  ]),
  refuses('description.string', '`description`: string', [
    { description: 7 },
    shapeFault('description'),
  ]),
  it('reference', '`reference`: may be given, comes back verbatim', async (w) => {
    const reference = `  Nº 7/${randomUUID()} ção  `;
    equal((await createCharge(w.own, { reference })).reference, reference, 'reference');
  }),
  refuses('reference.string', '`reference`: string', [{ reference: {} }, shapeFault('reference')]),
  ...[60, 604_800].map((seconds) =>
    it(`expires_in.${seconds}`, `\`expires_in\`: 60 to 604800; ${seconds}`, async (w) => {
      const { created_at, expires_at } = await createCharge(w.own, { expires_in: seconds });
      const lifeMs = Date.parse(expires_at ?? '') - Date.parse(created_at);
      equal(lifeMs, seconds * 1_000, 'from created_at to expires_at');
    }),
  ),
  ...[59, 604_801, 60.5, '3600'].map((seconds) =>
    refuses(
      `expires_in.not-${typeof seconds}-${seconds}`.replace('.5', '-5'),
      `\`expires_in\`: integer from 60 to 604800, not ${JSON.stringify(seconds)}`,
      [{ expires_in: seconds }, shapeFault('expires_in')],
    ),
  ),
  it('expires_in.default', '`expires_in` absent: the account default applies', async (w) => {
    const { expires_at, created_at } = await bareCharge(w);
    holds((expires_at ?? '') > created_at, 'an expiry', expires_at);
  }),
  it.admin('expires_in.account', '`expires_in` absent: the default is the account’s', async (w) => {
    const merchant = await w.admin.createAccount({ charge_expires_in: 7_200 });
    const { created_at, expires_at } = await createCharge(merchant);
    const lifeMs = Date.parse(expires_at ?? '') - Date.parse(created_at);
    equal(lifeMs, 7_200_000, 'from created_at to expires_at');
  }),
  ...['http', 'https'].map((scheme) =>
    accepts(`webhook_url.${scheme}`, '`webhook_url`: http or https', {
      webhook_url: `${scheme}://hooks.receiver.example.com/conformance`,
    }),
  ),
  ...PRIVATE_URLS.map(([id, webhook_url]) =>
    refuses(`webhook_url.not-${id}`, `\`webhook_url\`: http(s), public host; not ${webhook_url}`, [
      { webhook_url },
      NO_URL,
    ]),
  ),
  accepts('webhook_url.longest', '`webhook_url`: up to 2048 characters', {
    webhook_url: urlOfLength(2_048),
  }),
  refuses('webhook_url.longer', '`webhook_url`: not more than 2048 characters', [
    { webhook_url: urlOfLength(2_049) },
    shapeFault('webhook_url'),
  ]),
  refuses('webhook_url.string', '`webhook_url`: string', [
    { webhook_url: 7 },
    shapeFault('webhook_url'),
  ]),
  accepts('webhook_secret', '`webhook_secret`: may be given', {
    webhook_url: 'https://hooks.receiver.example.com/conformance',
    webhook_secret: 'segredo',
  }),
  refuses('webhook_secret.string', '`webhook_secret`: string', [
    { webhook_secret: 7 },
    shapeFault('webhook_secret'),
  ]),
  it(
    'url-before-issuing',
    '`INVALID_WEBHOOK_URL` is raised before any charge is issued',
    async (w) => {
      const [reference, key] = [randomUUID(), randomUUID()];
      const body = aChargeBody({ reference, webhook_url: 'http://127.0.0.1/' });
      const { charge_id } = refused(await postCharge(w.own, body, key), NO_URL);
      equal(charge_id, undefined, 'no charge is named');
      const list = bodyWith(await w.own.call('GET /v1/charges?limit=100'), 200);
      holds(!JSON.stringify(list).includes(reference), 'no charge in the list', reference);
    },
  ),
  it('created', 'Response `201`: a charge object', async (w) => {
    shaped(Charge, bodyWith(await postCharge(w.own, aChargeBody()), 201), 'the body of the 201');
  }),
  it('same-as-read', 'Response `201`: the object that a read gives', async (w) => {
    const { id } = await bareCharge(w);
    const created = await bareCharge(w);
    const read = await readCharge(w.own, id);
    equal({ ...created, status: read.status }, read, 'the charge of the 201 and of the GET');
  }),
  faulty('rejected', '`422` `ACQUIRER_REJECTED`', async (w) => {
    const { answer } = await refusedCharge(w);
    refused(answer, { status: 422, code: 'ACQUIRER_REJECTED' });
  }),
  faulty('rejected-reason', '`ACQUIRER_REJECTED`: message relays its reason', async (w) => {
    const { answer } = await refusedCharge(w);
    const { message } = refused(answer, { status: 422 });
    holds(message.includes(REFUSAL_MESSAGE), `relays "${REFUSAL_MESSAGE}"`, message);
  }),
]);

function urlOfLength(length: number): string {
  const start = 'https://hooks.receiver.example.com/';
  return start + 'x'.repeat(length - start.length);
}
