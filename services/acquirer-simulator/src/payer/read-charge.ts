import { parseAmountText } from '@pixmesh/acquirer/amount-text';
import type { Cents } from '@pixmesh/kernel/money';
import { z } from 'zod';

import { fetchText, type OriginOf } from './fetch-text.ts';
import { readLocation } from './read-location.ts';
import { stepFailed } from './step-failed.ts';
import { verifyPayload } from './verify-payload.ts';

const MEDIA_TYPE = /^application\/jose\s*(;|$)/i;

/** What a payer needs of a payload (API Pix, CobPayload); the rest is shown as it stands. */
const Payload = z.looseObject({
  txid: z.string().regex(/^[a-zA-Z0-9]{1,35}$/),
  revisao: z.int().min(0),
  status: z.string(),
  calendario: z.looseObject({
    criacao: z.iso.datetime({ offset: true }),
    apresentacao: z.iso.datetime({ offset: true }),
    expiracao: z.int(),
  }),
  valor: z.looseObject({ original: z.string() }),
  chave: z.string().min(1).max(77),
  devedor: z.looseObject({ nome: z.string() }).optional(),
});

/** A charge as its signed payload shows it. */
type ChargeByCode = {
  txid: string;
  amountCents: Cents;
  payload: z.output<typeof Payload>;
};

/**
 * Reads a charge from the text of its BR Code as a payer's institution does: parse the text, fetch the payload at its
 * location, verify the signature by the key that `jku` serves, check that the charge can be paid.
 * @throws AppError that names the step
 */
export async function readChargeByCode(originOf: OriginOf, brCode: string): Promise<ChargeByCode> {
  const url = toUrl(readLocation(brCode));
  const jws = await fetchJws(originOf, url);
  const payload = readPayload(await verifyPayload(originOf, url, jws));
  if (payload.status !== 'ATIVA') throw stepFailed('charge', `it is ${payload.status}`);
  const amountCents = parseAmountText(payload.valor.original);
  if (amountCents === null) throw stepFailed('payload', 'valor.original is no amount');
  return { txid: payload.txid, amountCents, payload };
}

/** A location has no scheme; payers add https. */
function toUrl(location: string): URL {
  const url = URL.parse(`https://${location}`);
  if (url === null) throw stepFailed('location', 'it is no host with a path');
  return url;
}

async function fetchJws(originOf: OriginOf, url: URL): Promise<string> {
  const answer = await fetchText(originOf, url);
  if (answer.kind === 'none') throw stepFailed('location', answer.reason, answer.cause);
  if (answer.status !== 200) throw stepFailed('location', `it answers ${answer.status}`);
  if (!MEDIA_TYPE.test(answer.type)) throw stepFailed('payload', 'expected application/jose');
  return answer.text;
}

function readPayload(bytes: Uint8Array): z.output<typeof Payload> {
  const { data, error } = Payload.safeParse(parseJson(bytes));
  if (data !== undefined) return data;
  const fields = error.issues.map(({ path }) => path.join('.') || 'payload');
  throw stepFailed('payload', `unreadable: ${fields.join(', ')}`);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
