import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createInternalClient } from '@pixmesh/http/internal-client';
import { deriveCommandId, newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { createPool, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { startDispatcherDouble } from '@pixmesh/testkit/dispatcher-double';
import { eventually } from '@pixmesh/testkit/eventually';
import { testIdentity } from '@pixmesh/testkit/mesh-calls';
import {
  SIMULATOR_CREDENTIALS,
  type SimulatorProcess,
  startSimulatorProcess,
} from '@pixmesh/testkit/simulator-process';
import { createTestDatabase } from '@pixmesh/testkit/test-database';

import { createLedgerInMemory } from './ledger-in-memory.ts';

export const AMOUNT = 1_500n;
export const FEE = 50n;

export type ComparedSides = Awaited<ReturnType<typeof startComparedSides>>;

/** The sides that reconciliation of payouts compares: a real acquirer and database, and a ledger by its contract. */
export async function startComparedSides() {
  const [database, simulator] = await Promise.all([
    createTestDatabase('payouts'),
    startSimulatorProcess(),
  ]);
  const admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 2 });
  const acquirer = createAcquirer({
    ...SIMULATOR_CREDENTIALS,
    url: simulator.url,
    timeoutMs: 2_000,
  });
  const ledger = createLedgerInMemory();
  const { pixKey } = SIMULATOR_CREDENTIALS;
  const dispatcherDouble = await startDispatcherDouble();
  const dispatcher = createInternalClient({
    service: 'webhook-dispatcher',
    url: dispatcherDouble.url,
    identity: testIdentity('payouts'),
  });
  const events = { dispatcher, healAfterMs: 60_000, wakeOutbox: () => undefined };
  const sides = { db: database.db, admin, simulator, acquirer, ledger, pixKey, ...events };
  return {
    ...sides,
    aCompletedPayout: () => aCompletedPayout(sides),
    anOpenPayout: (status: 'pending' | 'processing' = 'pending') => anOpenPayout(sides, status),
    aReleasedPayout: () => aReleasedPayout(sides),
    aReceivedPix: (amountCents: bigint) => aReceivedPix(sides, amountCents),
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await acquirer[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
      await dispatcher[Symbol.asyncDispose]();
      await dispatcherDouble[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

type Sides = {
  db: Queryable;
  simulator: SimulatorProcess;
  pixKey: string;
  acquirer: Acquirer;
  ledger: ReturnType<typeof createLedgerInMemory>;
};

/** Sent, settled at the acquirer, settled in the ledger, completed here. */
async function aCompletedPayout(sides: Sides) {
  const { acquirer, ledger } = sides;
  const id = newId();
  const idEnvio = toAcquirerId(id);
  await acquirer.sendPayout({
    idEnvio,
    amountCents: AMOUNT,
    pixKey: 'ana@example.com',
    recipientDocument: null,
    description: null,
  });
  const e2e = await eventually(async () => {
    const lookup = await acquirer.getPayout(idEnvio);
    if (lookup.kind !== 'found' || lookup.value.status !== 'settled') throw new Error('not yet');
    return lookup.value.endToEndId;
  });
  const holdId = await insertPayout(sides.db, { id, status: 'completed', e2e, isSent: true });
  ledger.book(deriveCommandId('hold_settle', holdId), {
    id,
    amount: AMOUNT + FEE,
    clearing: AMOUNT,
  });
  return { id, holdId, e2e };
}

/** Waits for approval, with its open hold. */
async function anOpenPayout(sides: Sides, status: 'pending' | 'processing') {
  const id = newId();
  const holdId = await insertPayout(sides.db, { id, status, e2e: null, isSent: false });
  sides.ledger.holds.set(holdId, {
    hold_id: holdId,
    account_id: newId(),
    resource_id: id,
    kind: 'payout',
    amount: toCents(AMOUNT),
    fee: toCents(FEE),
    state: 'open',
    created_at: new Date().toISOString(),
  });
  return { id, holdId };
}

/** Canceled in the queue, its money released. */
async function aReleasedPayout(sides: Sides) {
  const id = newId();
  const holdId = await insertPayout(sides.db, { id, status: 'canceled', e2e: null, isSent: false });
  sides.ledger.book(deriveCommandId('hold_release', holdId), {
    id,
    amount: AMOUNT + FEE,
    clearing: 0n,
  });
  return { id, holdId };
}

/** Money that came in and that the ledger has booked. */
async function aReceivedPix(sides: Sides, amountCents: bigint): Promise<string> {
  const { acquirer, ledger, simulator } = sides;
  const txid = toAcquirerId(newId());
  await acquirer.issueCharge({
    txid,
    amountCents,
    expiresInSeconds: 3_600,
    debtor: { name: 'Ana Souza', document: '52998224725' },
    description: null,
  });
  const paid = await simulator.control('POST', `/control/charges/${txid}/pay`, {});
  const { end_to_end_id: e2e } = paid as { end_to_end_id: string };
  const command = deriveCommandId('received_pix', e2e);
  ledger.book(command, { id: newId(), amount: amountCents, clearing: -amountCents });
  return command;
}

async function insertPayout(
  db: Queryable,
  row: {
    id: string;
    status: string;
    e2e: string | null;
    isSent: boolean;
  },
): Promise<string> {
  const holdId = newId();
  await db.query(sql`
    insert into payouts (
      id, account_id, source, status, amount, fee, pix_key_type, pix_key, pix_key_canonical, fingerprint,
      is_automatic, hold_id, end_to_end_id, created_at, processed_at, first_put_at, event_sequence
    )
    select ${row.id}, ${newId()}, 'api', ${row.status}, ${AMOUNT}, ${FEE}, 'email', 'a@b.c', 'a@b.c', '\\x00',
           true, ${holdId}, ${row.e2e}, now(), sent_at, sent_at, 2
    from (select case when ${row.isSent}::boolean then now() end as sent_at) as sent`);
  await db.query(sql`
    insert into events (event_id, topic, key, type, sequence, message)
    select uuidv7(), ${TOPICS.payoutsEvents}, ${row.id}, 'x', sequence, '{}'
    from generate_series(1, 2) as sequence`);
  return holdId;
}
