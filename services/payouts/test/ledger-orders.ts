import { BookedJournals } from '@pixmesh/contracts/internal/ledger-reads';
import { ReceivedPixCredit, HoldRelease } from '@pixmesh/contracts/messages/ledger-command.v1';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';

const BOOK_TIMEOUT_MS = 20_000;

type HeldPayout = { accountId: string; holdId: string; id: string };

/** Commands that the ledger takes by topic; each is in its books when the call returns. */
export async function startLedgerOrders(
  topicPrefix: string,
  lookUp: (commandIds: string[]) => Promise<unknown>,
) {
  const { registryUrl } = testInfra();
  const publisher = createEventPublisher({
    ...testBroker(),
    clientId: 'test',
    logger: createLogger('test', 'silent'),
    topicPrefix,
    codec: await warmCodec(registryUrl, [ReceivedPixCredit, HoldRelease]),
  });
  return {
    /** Money that comes in as a received Pix. */
    credit: (accountId: string, cents: number) => book(aCredit(accountId, cents)),
    /** Releases the money of a hold. */
    release: (payout: HeldPayout) => book(aRelease(payout)),
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };

  async function book(order: { commandId: string; command: OutboundEvent }): Promise<void> {
    await publishStubbornly(publisher, [{ ...order.command, traceparent: null }]);
    await eventually(async () => {
      const { data } = BookedJournals.parse(await lookUp([order.commandId]));
      if (data.length === 0) throw new Error('not booked yet');
    }, BOOK_TIMEOUT_MS);
  }
}

function aCredit(accountId: string, cents: number) {
  const endToEndId = `E${newId().replaceAll('-', '').slice(0, 31)}`;
  const commandId = deriveCommandId('received_pix', endToEndId);
  const command = outboundEvent(ReceivedPixCredit, placeOf(accountId), {
    ...envelope(accountId),
    type: 'received_pix.credit',
    data: {
      command_id: commandId,
      end_to_end_id: endToEndId,
      charge_id: newId(),
      amount: toCents(cents),
      release_at: null,
    },
  });
  return { commandId, command };
}

function aRelease(payout: HeldPayout) {
  const commandId = deriveCommandId('hold_release', payout.holdId);
  const command = outboundEvent(HoldRelease, placeOf(payout.accountId), {
    ...envelope(payout.accountId),
    type: 'hold.release',
    data: { command_id: commandId, hold_id: payout.holdId, resource_id: payout.id },
  });
  return { commandId, command };
}

function placeOf(accountId: string) {
  return { key: accountId, sequence: null };
}

function envelope(accountId: string) {
  return {
    event_id: newId(),
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: accountId,
    application_id: null,
  };
}
