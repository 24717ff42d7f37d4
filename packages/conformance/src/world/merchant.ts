import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';

import type { z } from 'zod';

import type { Answer, HeaderValues, HttpClient } from '../client/http-client.ts';
import { Charge, ChargeItem, pageOf, Payout } from '../client/schemas.ts';
import { ExpectationError, holds, shaped } from '../client/expectations.ts';

type CallOptions = {
  headers?: HeaderValues;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string | Buffer;
  /** Another key than the merchant's; null sends none. */
  key?: string | null;
};

/** One application of a merchant, as seen through its key. */
export type Merchant = {
  key: string;
  /** Known only of merchants that the run made for itself. */
  ids: { accountId: string; applicationId: string; keyId: string } | null;
  /** Such as `call('GET /v1/balance')`. */
  call(route: string, options?: CallOptions): Promise<Answer>;
};

type Identity = { key: string; ids: Merchant['ids'] };

/** A merchant of an installation: every call carries its key and asks for JSON. */
export function createMerchant(
  deps: { http: HttpClient; url: string },
  { key, ids }: Identity,
): Merchant {
  return {
    key,
    ids,
    call: (route, options = {}) => {
      const [method = 'GET', path = ''] = route.split(' ');
      const body = bodyOf(options);
      const sentKey = options.key === undefined ? key : options.key;
      return deps.http.send({
        method,
        url: deps.url + path,
        headers: {
          ...(sentKey === null ? {} : { 'x-api-key': sentKey }),
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        body,
      });
    },
  };
}

function bodyOf(options: CallOptions): Buffer | null {
  if (options.rawBody !== undefined) return Buffer.from(options.rawBody);
  return options.body === undefined ? null : Buffer.from(JSON.stringify(options.body));
}

export const CUSTOMER = {
  name: 'Ana Souza',
  email: 'ana.souza@example.com',
  document: '529.982.247-25',
} as const;

const CHARGE_AMOUNT_CENTS = 1_234;
const PAYOUT_AMOUNT_CENTS = 500;

/** A valid body of `POST /v1/charges` with what is required, with these changes. */
export function aChargeBody(changes: object = {}): Record<string, unknown> {
  return { amount: CHARGE_AMOUNT_CENTS, customer: CUSTOMER, ...changes };
}

/** A valid body of `POST /v1/payouts` with what is required, with these changes. */
export function aPayoutBody(changes: object = {}): Record<string, unknown> {
  const pixKey = { pix_key_type: 'email', pix_key: 'joao.lima@example.com' };
  return { amount: PAYOUT_AMOUNT_CENTS, ...pixKey, ...changes };
}

export async function postCharge(
  merchant: Merchant,
  body: unknown,
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return await merchant.call('POST /v1/charges', { headers, body });
}

export async function postPayout(
  merchant: Merchant,
  body: unknown,
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return await merchant.call('POST /v1/payouts', { headers, body });
}

/** A charge that was created, or a failure of the case. */
export async function createCharge(merchant: Merchant, changes: object = {}): Promise<Charge> {
  const answer = await postCharge(merchant, aChargeBody(changes));
  return shaped(Charge, bodyWith(answer, 201), 'the charge of the 201');
}

export async function createPayout(merchant: Merchant, changes: object = {}): Promise<Payout> {
  const answer = await postPayout(merchant, aPayoutBody(changes));
  return shaped(Payout, bodyWith(answer, 201), 'the payout of the 201');
}

/** What a path of `/v1` answers with 200, in its shape. */
export async function read<Schema extends z.ZodType>(
  merchant: Merchant,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const answer = await merchant.call(`GET /v1${path}`);
  return shaped(schema, bodyWith(answer, 200), answer.request);
}

export async function readCharge(merchant: Merchant, id: string): Promise<Charge> {
  return await read(merchant, `/charges/${id}`, Charge);
}

export async function readPayout(merchant: Merchant, id: string): Promise<Payout> {
  return await read(merchant, `/payouts/${id}`, Payout);
}

const ITEMS = { charges: ChargeItem, payouts: Payout };
/** The two lists that come in pages. */
export type Kind = keyof typeof ITEMS;
type Page<K extends Kind> = { data: z.output<(typeof ITEMS)[K]>[]; has_more: boolean };

export async function list<K extends Kind>(
  merchant: Merchant,
  kind: K,
  query = '',
): Promise<Page<K>> {
  return (await read(merchant, `/${kind}?${query}`, pageOf(ITEMS[kind]))) as Page<K>;
}

export function includes(items: readonly { id: string }[], id: string | undefined): void {
  const isThere = items.some((item) => item.id === id);
  holds(isThere, `${id} is in the list`, items.length);
}

/** The body of an answer that has to have this status. */
export function bodyWith(answer: Answer, status: number): unknown {
  if (answer.status === status) return answer.json;
  throw new ExpectationError(
    answer.request,
    `status ${status}`,
    `status ${answer.status} ${answer.text}`,
  );
}
