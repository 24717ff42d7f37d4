import { OPERATOR_DISPUTE_PATHS } from '@pixmesh/contracts/internal/operator-disputes';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { expect } from 'vitest';

import type { ChargesUnderTest, Json } from './charges-under-test.ts';
import { type createLedgerPeer, ledgerCommands } from './ledger-peer.ts';

/** Of every charge made here. */
export const DISPUTED_AMOUNT = 2_000;

type Paid = { id: string; accountId: string; endToEndId: string; read(): Promise<Json> };

type Parts = { charges: ChargesUnderTest; ledger: ReturnType<typeof createLedgerPeer> };

/** Paid charges, and what the acquirer does with their Pix. `parts` is asked for its answer by each call anew. */
export function createDisputedCharges(parts: () => Parts) {
  return {
    aPaidCharge,
    control,
    open,
    decide,
    waitForStatus,
    disputesOf,
    waitForDispute,
  };

  async function aPaidCharge(): Promise<Paid> {
    const caller = { ...aCaller(), creation_id: newId() };
    const id = caller.creation_id;
    await parts().charges.request(caller, 'POST /v1/charges', {
      amount: DISPUTED_AMOUNT,
      reference: 'order-7',
      customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    });
    await control(`/control/charges/${id}/pay`, {});
    await parts().charges.announce(id);
    const read = async () => (await parts().charges.request(caller, `GET /v1/charges/${id}`)).body;
    const endToEndId = await eventually(async () => {
      await parts().ledger.answerAll();
      const charge = await read();
      expect(charge.status).toBe('paid');
      return charge.pix.end_to_end_id;
    });
    return { id, accountId: caller.account_id, endToEndId, read };
  }

  async function control(path: string, body: object): Promise<Json> {
    return await parts().charges.simulator.control('POST', path, body);
  }

  async function open(charge: Paid, changes: object = {}): Promise<Json> {
    return await control('/control/disputes', {
      end_to_end_id: charge.endToEndId,
      reason: 'scam',
      ...changes,
    });
  }

  async function decide(dispute: Json, body: object): Promise<void> {
    await control(`/control/disputes/${dispute.id}/decide`, body);
  }

  async function waitForStatus(charge: Paid, status: string): Promise<void> {
    await eventually(async () => {
      await parts().ledger.answerAll();
      expect((await charge.read()).status).toBe(status);
    });
  }

  async function disputesOf(charge: Paid): Promise<Json[]> {
    const path = `${OPERATOR_DISPUTE_PATHS.list}?charge_id=${charge.id}`;
    const listed = await parts().charges.request(null, `GET ${path}`);
    expect(listed.status).toBe(200);
    return listed.body.data;
  }

  async function waitForDispute(charge: Paid, status: string): Promise<Json> {
    return await eventually(async () => {
      const [dispute] = await disputesOf(charge);
      expect(dispute?.status).toBe(status);
      return dispute;
    });
  }
}

/** What came of a charge: its events, what the ledger was ordered, and its history. */
export function createMovesOfCharges(parts: () => Pick<Parts, 'charges'>) {
  return { eventsOf, ordersOf, causesOf };

  /** Names of the charge's events with the state that each shows, in order. */
  async function eventsOf(charge: Paid): Promise<string[]> {
    const events = await parts().charges.db.query<{
      type: string;
      sequence: number;
      message: Json;
    }>(
      sql`
        select type, sequence, message from events
        where topic = ${TOPICS.chargesEvents} and key = ${charge.id} order by sequence`,
    );
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    return events.slice(3).map(({ type, message }) => `${type} ${message.data.status}`);
  }

  /** What was ordered from the ledger after the credit. */
  async function ordersOf(charge: Paid): Promise<string[]> {
    const commands = await ledgerCommands(parts().charges.db);
    return commands
      .filter(({ key, type }) => key === charge.accountId && type !== 'received_pix.credit')
      .map(({ type, message }) => `${type} ${message.data.amount}`);
  }

  async function causesOf(charge: Paid): Promise<string[]> {
    const rows = await parts().charges.db.query<{ cause: string; version: number }>(
      sql`select cause, version from charge_history where charge_id = ${charge.id} order by version`,
    );
    expect(rows.map(({ version }) => version)).toEqual(rows.map((_, index) => index));
    return rows.map(({ cause }) => cause);
  }
}
