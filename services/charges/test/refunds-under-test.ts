import {
  type AccountId,
  type ChargeId,
  newId,
  type RefundId,
  toAcquirerId,
} from '@pixmesh/kernel/ids';
import { named, sql } from '@pixmesh/postgres/sql';
import { startDispatcherDouble } from '@pixmesh/testkit/dispatcher-double';
import { eventually } from '@pixmesh/testkit/eventually';
import { type LedgerProcess, startLedgerProcess } from '@pixmesh/testkit/ledger-process';
import { type LossyProxy, startLossyProxy } from '@pixmesh/testkit/lossy-proxy';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { expect } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import type { RefundRow } from '#refunds/refund-row.ts';
import { findRefund } from '#refunds/refunds.sql.ts';

import { type ChargesUnderTest, type Json, startChargesUnderTest } from './charges-under-test.ts';

/** Long enough for a busy machine; what is waited for comes within fractions of it. */
const PATIENCE_MS = 20_000;

export type RefundsUnderTest = Awaited<ReturnType<typeof startRefundsUnderTest>>;

/** An entry of the simulator's own record. */
type JournalEntry = { kind: string; end_to_end_id: string | null; amount: number };

/**
 * The service between a real simulator and a real ledger, with a network to the ledger that loses what a test chooses.
 */
export async function startRefundsUnderTest(settings: Record<string, string> = {}) {
  const peers: { ledger?: LedgerProcess; network?: LossyProxy } = {};
  const dispatcher = await startDispatcherDouble();
  const charges = await startChargesUnderTest({ ...PERIODS, ...settings }, async (shared) => {
    peers.ledger = await startLedgerProcess(shared);
    peers.network = await startLossyProxy(peers.ledger.url, 'charges');
    return { LEDGER_URL: peers.network.url, DISPATCHER_URL: dispatcher.url };
  });
  const { ledger, network } = peers as Required<typeof peers>;
  return {
    ...charges,
    ledger,
    network,
    ...chargesOf(charges),
    ...viewsOf(charges, ledger),
    refund: async (chargeId: string, body: Json = {}, refundId: string = newId()) => {
      const wrapped = { operator_id: newId(), refund_id: refundId, body };
      const route = `POST /internal/charges/${chargeId}/refunds`;
      return { ...(await charges.request(null, route, wrapped)), id: refundId };
    },
    faults: (...rules: object[]) =>
      charges.simulator.control('PUT', '/control/faults', { seed: 1, rules }),
    [Symbol.asyncDispose]: async () => {
      await charges[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await dispatcher[Symbol.asyncDispose]();
    },
  };
}

function chargesOf({ db, simulator, request, announce }: ChargesUnderTest) {
  return { aPendingCharge, aPaidCharge };

  async function aPendingCharge(amount = 2_000, accountId: AccountId = newId()) {
    const caller = { ...aCaller({ account_id: accountId }), creation_id: newId() };
    // A busy machine lets a call to the acquirer time out: the same key resumes it.
    await eventually(async () => {
      const created = await request(caller, 'POST /v1/charges', {
        amount,
        customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
      });
      expect(created.body.status).toBe('pending');
    }, PATIENCE_MS);
    return { caller, id: caller.creation_id, accountId: caller.account_id, amount };
  }

  /** Paid, credited and spendable; no callback but that of the payment was announced. */
  async function aPaidCharge(amount = 2_000, accountId: AccountId = newId()) {
    const charge = await aPendingCharge(amount, accountId);
    await simulator.control('POST', `/control/charges/${toAcquirerId(charge.id)}/pay`, {});
    await announce(charge.id);
    const endToEndId = await eventually(async () => {
      const row = await findAnyCharge(db, charge.id as ChargeId);
      expect(row?.status).toBe('paid');
      return row?.endToEndId ?? '';
    }, PATIENCE_MS);
    return { ...charge, endToEndId };
  }
}

/** What stands where, by everybody's own record. */
function viewsOf({ db, simulator }: ChargesUnderTest, ledger: LedgerProcess) {
  return {
    charge: async (id: string) => {
      const charge = await findAnyCharge(db, id as ChargeId);
      if (charge === null) throw new Error(`no charge ${id}`);
      return charge;
    },
    row: (id: string): Promise<RefundRow | null> => findRefund(db, id as RefundId),
    /** The refund once it has ended. */
    ended: (id: string) =>
      eventually(async () => {
        const row = await findRefund(db, id as RefundId);
        expect(row?.status).toMatch(/^(completed|failed)$/);
        return row as RefundRow;
      }, PATIENCE_MS),
    /** The balance once the ledger has booked everything that was ordered. */
    balanceIs: (accountId: string, balance: Partial<{ available: number; blocked: number }>) =>
      eventually(async () => {
        expect(await ledger.balance(accountId)).toMatchObject(balance);
      }, PATIENCE_MS),
    /** Cents that the acquirer gave back, one item for each return. */
    returnsOf: async (endToEndId: string) => {
      const journal = await simulator.control('GET', '/control/journal?limit=100000');
      const page = journal as JournalEntry[] | { data: JournalEntry[] };
      return (Array.isArray(page) ? page : page.data)
        .filter((entry) => entry.kind === 'returned' && entry.end_to_end_id === endToEndId)
        .map(({ amount }) => amount);
    },
    eventsOf: (key: string) =>
      db.query<{ type: string; sequence: number | null; message: Json }>(
        named(
          'test_events_of',
          sql`select type, sequence, message from events where key = ${key} order by sequence, event_id`,
        ),
      ),
    historyOf: (chargeId: string) =>
      db.query<{ version: number; to_status: string; cause: string; detail: string | null }>(
        named(
          'test_history_of',
          sql`
            select version, to_status, cause, detail from charge_history
            where charge_id = ${chargeId} order by version`,
        ),
      ),
  };
}

const PERIODS = {
  READ_BACK_REFUND_INTENT_MS: '60000',
  READ_BACK_REFUND_UNKNOWN_MS: '100',
  READ_BACK_REFUND_UNKNOWN_MS_MAX: '200',
  READ_BACK_REFUND_ACCEPTED_MS: '150',
  READ_BACK_REFUND_ACCEPTED_MS_MAX: '300',
  REFUSAL_WAIT_MS: '1500',
};
