import assert from 'node:assert';
import { randomUUID } from 'node:crypto';

import { buildDynamicBrCode } from '@pixmesh/acquirer/br-code-writer';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import { efiError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import { readRefusedAmount } from '#api-pix/read-refused.ts';
import type { Provider } from '#faults/provider.ts';
import { addRefusal } from '#journal/journal.sql.ts';
import type { Profile, StoredProfile } from '#profile/profile.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';

import { ChargeBody, TxidParams } from './charge-body.ts';
import { toChargeResource } from './charge-resource.ts';
import { locationOf } from './location.ts';
import type { NewCharge, NewCharges } from './new-charges.sql.ts';

const MERCHANT_NAME = 'PIXMESH SIMULADOR';
const MERCHANT_CITY = 'SAO PAULO';

/** Profile `efi`: charges up to this many cents pay themselves, so long after they were issued. */
const PAYS_ITSELF_UP_TO = 1_000n;
const PAYS_ITSELF_IN_MS = 100;

type Deps = {
  db: Queryable;
  newCharges: NewCharges;
  profile: StoredSetting<StoredProfile>;
  pixKey: string;
  /** Notifies that something becomes due. */
  expectDue: (inMs: number) => void;
};

/** `PUT /v2/cob/{txid}`: one statement. A txid is taken for ever, as at Efí. */
export function addIssueCharge(provider: Provider, deps: Deps): void {
  provider.put('/v2/cob/:txid', 'issueCharge', async (request) => {
    const { txid } = readShape(TxidParams, request.params);
    const charge = toNewCharge(txid, readChargeBody(request), deps.profile.get().name);
    checkTerms(charge, deps.pixKey);
    const stored = await deps.newCharges.submit(charge);
    if (stored === null) throw duplicateTxid();
    if (charge.paysInMs !== null) deps.expectDue(charge.paysInMs);
    const unpaid = { status: 'ATIVA' as const, revision: 0, received: [] };
    return { status: 201, body: toChargeResource({ ...charge, ...stored, ...unpaid }) };
  });
  provider.onRefused(
    'issueCharge',
    async (request) => await addRefusal(deps.db, readRefused(request)),
  );
}

function readChargeBody(request: FastifyRequest): ChargeBody {
  return readBody(ChargeBody, request, 'CobOperacaoInvalida');
}

function toNewCharge(txid: string, body: ChargeBody, profile: Profile): NewCharge {
  const location = locationOf(randomUUID());
  const brCode = buildDynamicBrCode({
    location,
    merchantName: MERCHANT_NAME,
    merchantCity: MERCHANT_CITY,
  });
  assert(brCode !== null, 'the location is always writable');
  return {
    txid,
    amountCents: body.valor.original,
    pixKey: body.chave,
    expiresInSeconds: body.calendario.expiracao,
    location,
    brCode,
    debtor: body.devedor ?? null,
    payerRequest: body.solicitacaoPagador ?? null,
    additionalInfo: body.infoAdicionais ?? null,
    paysInMs:
      profile === 'efi' && body.valor.original <= PAYS_ITSELF_UP_TO ? PAYS_ITSELF_IN_MS : null,
  };
}

/** What is well formed and still refused, in Efí's words. */
function checkTerms(charge: NewCharge, pixKey: string): void {
  if (charge.amountCents === 0n) {
    throw efiError(400, 'valor_invalido', 'Campo valor.original deve ser maior que zero');
  }
  if (charge.pixKey !== pixKey) {
    throw efiError(400, 'chave_invalida', 'A chave informada não pertence à conta autenticada');
  }
}

function duplicateTxid(): Error {
  return efiError(409, 'txid_duplicado', 'Campo txid informado já foi utilizado em outra cobrança');
}

/** What is known of a request that was refused. */
function readRefused(request: FastifyRequest) {
  const { data } = TxidParams.safeParse(request.params);
  const amountCents = readRefusedAmount(
    request,
    ({ valor }) => (valor as { original?: unknown } | null | undefined)?.original,
  );
  return { txid: data?.txid ?? null, amountCents };
}
