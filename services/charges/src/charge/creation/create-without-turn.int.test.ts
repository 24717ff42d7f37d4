import type { ServerResponse } from 'node:http';

import { apiPix, json, startTestProvider } from '@pixmesh/acquirer/testing/test-provider';
import { WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { deadlineIn } from '@pixmesh/http/deadline';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { createIssuing } from '#charge/issuing/issuing.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { createCharge, type CreateChargeInput } from './create-charge.ts';
import { createNewCharges } from './new-charges.sql.ts';

/** Calls to the acquirer that one account alone may have under way. */
const UNDER_WAY_MAX = 512;
const PATIENT_MS = 60_000;
const LEASE_MS = 60_000;
const PERIOD = { firstMs: 100, maxMs: 100 };
const BODY = {
  amount: 1_500,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
};

test(
  'a creation whose account has too many calls to the acquirer waiting is stored and unknown, was never sent, and its key issues it',
  async () => {
    await using database = await createTestDatabase('charges');
    await using provider = await startTestProvider();
    await using acquirer = provider.connect(PATIENT_MS);
    const { db } = database;
    const issuing = createIssuing({
      db,
      moves: createChargeMoves(db),
      acquirer,
      receiver: RECEIVER,
      logger: createLogger('charges', 'silent'),
      wakeOutbox: () => undefined,
      wakeStatusChecks: () => undefined,
      acquirerTimeoutMs: 1_000,
      giveUpMs: PATIENT_MS,
      leaseMs: LEASE_MS,
      processingChecks: PERIOD,
      pendingChecks: PERIOD,
    });
    const { publicKey: sealingPublicKey } = generateSealingKeyPair();
    const deps = {
      db,
      newCharges: createNewCharges(db),
      issuing,
      sealingPublicKey,
      leaseMs: LEASE_MS,
    };
    const { account_id: accountId, application_id: applicationId, settings } = aCaller();
    const id = newId<CreateChargeInput['id']>();
    const create = () =>
      createCharge(deps, {
        id,
        accountId,
        requester: { source: 'api', applicationId },
        settings,
        readBody: () => BODY,
        deadline: deadlineIn(PATIENT_MS),
      });

    const held: ServerResponse[] = [];
    provider.answerCall = (_request, response) => void held.push(response);
    const beginBeforeMs = performance.now() + PATIENT_MS;
    const crowd = Array.from({ length: UNDER_WAY_MAX + WAITING_MAX }, () =>
      acquirer.getCharge(toAcquirerId(newId()), { accountId, beginBeforeMs }),
    );
    await eventually(() => expect(held).toHaveLength(UNDER_WAY_MAX), PATIENT_MS);

    await expect(create()).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      extra: { charge_id: id },
    });
    expect(await findAnyCharge(db, id)).toMatchObject({
      status: 'processing',
      unansweredCalls: 0,
      lastCallAt: null,
    });
    // While there is no room the key answers with what is stored.
    expect(await create()).toMatchObject({ charge: { id, status: 'processing' }, replayed: true });

    const txid = toAcquirerId(id);
    expect(provider.calls.filter(({ url }) => url.includes(txid))).toEqual([]);
    provider.answerCall = ({ method }, response) => {
      if (method === 'GET') return apiPix(response, 404, 'CobNaoEncontrado');
      json(response, 201, issued(txid));
    };
    for (const response of held) apiPix(response, 404, 'CobNaoEncontrado');
    await Promise.all(crowd);

    expect(await create()).toMatchObject({
      charge: { id, status: 'pending' },
      replayed: true,
      mismatch: false,
    });
    const orders = provider.calls.filter(({ method }) => method === 'PUT');
    expect(orders.map(({ url }) => url)).toEqual([`/v2/cob/${txid}`]);
  },
  3 * PATIENT_MS,
);

function issued(txid: string): object {
  return {
    txid,
    calendario: { criacao: new Date().toISOString(), expiracao: 86_400 },
    status: 'ATIVA',
    valor: { original: '15.00' },
    chave: 'key',
    location: `pix.example.com/v2/${txid}`,
  };
}
