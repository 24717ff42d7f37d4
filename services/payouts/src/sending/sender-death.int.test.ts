import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { HoldSettled } from '@pixmesh/contracts/messages/ledger-event.v1';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { deriveCommandId, newId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { type SimulatorProcess, startSimulatorProcess } from '@pixmesh/testkit/simulator-process';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPayoutsEnvironment, type PayoutsEnvironment } from '#test/payouts-environment.ts';
import { startPayoutsProcess } from '#test/payouts-process.ts';
import { DUE_AMOUNT, storeDuePayouts } from '#test/store-due-payouts.ts';

/** A restart, a lease that ends, a check and a second call. */
const RECOVERY_MS = 20_000;

let mesh: PayoutsEnvironment;
let simulator: SimulatorProcess;
let peers: Awaited<ReturnType<typeof startPeers>>;
beforeAll(async () => {
  [mesh, simulator] = await Promise.all([createPayoutsEnvironment(), startSimulatorProcess()]);
  peers = await startPeers(mesh.topicPrefix);
  await mesh.db.query(sql`update send_slots set lease_token = null, lease_until = null`);
});
afterAll(async () => {
  await peers.stop();
  await simulator[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
});

/** What gateway and ledger say to the service, by the messages that are their contract. */
async function startPeers(topicPrefix: string) {
  const { registryUrl } = testInfra();
  const publisher = createEventPublisher({
    ...testBroker(),
    clientId: 'test',
    logger: createLogger('test', 'silent'),
    topicPrefix,
    codec: await warmCodec(registryUrl, [AcquirerCallback, HoldSettled]),
  });
  return {
    publish: (event: OutboundEvent) =>
      publishStubbornly(publisher, [{ ...event, traceparent: null }]),
    stop: () => publisher[Symbol.asyncDispose](),
  };
}

function settings(changes: Record<string, string> = {}): Record<string, string> {
  return {
    ACQUIRER_URL: simulator.url,
    READ_BACK_UNKNOWN_MS: '100',
    READ_BACK_UNKNOWN_MS_MAX: '200',
    READ_BACK_ACCEPTED_MS: '200',
    READ_BACK_ACCEPTED_MS_MAX: '400',
    SEND_SLOTS: '1',
    ...changes,
  };
}

async function aDuePayout(): Promise<PayoutId> {
  const [id] = await storeDuePayouts(mesh.db, 1);
  return id as PayoutId;
}

async function kindsOf(id: PayoutId): Promise<string[]> {
  const { data } = (await simulator.control('GET', '/control/journal?limit=10000')) as {
    data: { id_envio: string; kind: string }[];
  };
  return data.filter((entry) => entry.id_envio === toAcquirerId(id)).map(({ kind }) => kind);
}

/** Commands of the ledger about one payout. */
async function commandsOf(id: PayoutId): Promise<string[]> {
  const rows = await mesh.db.query<{ type: string }>(sql`
    select type from events
    where topic = 'ledger.commands.v1' and message->'data'->>'resource_id' = ${id}`);
  return rows.map((row) => row.type);
}

/** An item of the acquirer's callback, as the gateway passes it on. */
async function announce(id: PayoutId): Promise<void> {
  const item = { status: 'REALIZADO', gnExtras: { idEnvio: toAcquirerId(id) } };
  const place = { key: toAcquirerId(id), sequence: null, headers: { kind: 'sent' } };
  await peers.publish(
    outboundEvent(AcquirerCallback, place, {
      event_id: newId(),
      type: 'acquirer.callback',
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: null,
      application_id: null,
      data: { kind: 'sent', item },
    }),
  );
}

async function confirmSettlement(id: PayoutId): Promise<void> {
  const payout = await mesh.row(id);
  if (payout === null) throw new Error('no such payout');
  const { accountId, holdId, amount, fee } = payout;
  await peers.publish(
    outboundEvent(
      HoldSettled,
      { key: accountId, sequence: null },
      {
        event_id: newId(),
        type: 'hold.settled',
        version: 1,
        occurred_at: new Date().toISOString(),
        account_id: accountId,
        application_id: null,
        data: {
          command_id: deriveCommandId('hold_settle', holdId),
          journal_id: newId(),
          hold_id: holdId,
          resource_id: id,
          amount,
          fee,
          balance: { available: toCents(0n), pending: toCents(0n) },
        },
      },
    ),
  );
}

const PLACES = [
  'payouts.submit.before-call',
  'payouts.submit.in-call',
  'payouts.submit.after-answer',
  'payouts.settle.after-commit',
];

// Each waits for two boots and a lease.
test.each(sampled(PLACES, 1))(
  'a sender killed at %s is followed by one that pays once, in the slot of the dead one',
  async (at) => {
    const first = await startPayoutsProcess(mesh, settings());
    await first.arm({ [at]: 'kill' });
    const id = await aDuePayout();
    expect(await first.ended).toBe('SIGKILL');
    await using second = await startPayoutsProcess(mesh, settings());
    await eventually(
      async () => expect(await commandsOf(id)).toEqual(['hold.settle']),
      RECOVERY_MS,
    );
    expect(await kindsOf(id)).toEqual(['sent', 'settled']);
    expect(await second.stop()).toBe(0);
    expect(await mesh.row(id)).toMatchObject({ status: 'processing', ending: 'settle' });
  },
);

test('a callback makes the check come at once, and the ledger completes the payout, over the real topics', async () => {
  const patient = { READ_BACK_ACCEPTED_MS: '600000', READ_BACK_ACCEPTED_MS_MAX: '600000' };
  await using service = await startPayoutsProcess(mesh, settings(patient));
  const id = await aDuePayout();
  await eventually(async () => expect(await kindsOf(id)).toEqual(['sent', 'settled']));
  await eventually(async () => expect((await mesh.row(id))?.processedAt).not.toBeNull());
  expect(await commandsOf(id)).toEqual([]);
  await Promise.all(Array.from({ length: 10 }, () => announce(id)));
  await eventually(async () => expect(await commandsOf(id)).toEqual(['hold.settle']));
  await Promise.all(Array.from({ length: 3 }, () => confirmSettlement(id)));
  const completed = await eventually(async () => {
    const payout = await mesh.row(id);
    expect(payout?.status).toBe('completed');
    return payout;
  });
  expect(completed).toMatchObject({ amount: DUE_AMOUNT, contradiction: null, eventSequence: 3 });
  const events = await mesh.eventsOf(id);
  expect(events.map(({ type, sequence }) => [type, sequence]).sort()).toEqual([
    ['payment.pix.completed', 3],
    ['payment.pix.processing', 2],
  ]);
  expect(await mesh.db.query(sql`select code from dead_letters`)).toEqual([]);
  expect(await service.stop()).toBe(0);
});

test('with SEND_WAIT_MS the slot of an order waits for its payout', async () => {
  await using service = await startPayoutsProcess(mesh, settings({ SEND_WAIT_MS: '60000' }));
  const id = await aDuePayout();
  await eventually(async () => {
    const [slot] = await mesh.db.query(sql`select waits_for from send_slots where slot = 1`);
    expect(slot).toEqual({ waits_for: id });
  });
  expect(await service.stop()).toBe(0);
});
