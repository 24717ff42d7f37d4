import * as ledgerProcess from '@pixmesh/testkit/ledger-process';

import { startLedgerOrders } from './ledger-orders.ts';

/** The ledger as a process of its own, and money that can be put there. */
export async function startLedgerProcess({ topicPrefix }: { topicPrefix: string }) {
  const ledger = await ledgerProcess.startLedgerProcess({ topicPrefix });
  const orders = await startLedgerOrders(topicPrefix, (command_ids) =>
    ledger.ask('POST /internal/journals/lookup', null, { command_ids }),
  );
  return {
    ...ledger,
    release: orders.release,
    /** Money that can be spent when this returns. */
    fund: async (accountId: string, cents: number): Promise<void> => {
      if (cents > 0) await orders.credit(accountId, cents);
    },
    [Symbol.asyncDispose]: async () => {
      await orders[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
    },
  };
}
