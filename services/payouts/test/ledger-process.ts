import type { SignToken } from '@pixmesh/http/service-token';
import * as ledgerProcess from '@pixmesh/testkit/ledger-process';

import { startLedgerOrders } from './ledger-orders.ts';

type LedgerOptions = {
  topicPrefix: string;
  publicKeys: object;
  signAsGateway: SignToken;
  signAsPayouts: SignToken;
};

/** The ledger as a process of its own, and money that can be put there. */
export async function startLedgerProcess(options: LedgerOptions) {
  const { topicPrefix, publicKeys, signAsGateway, signAsPayouts } = options;
  const ledger = await ledgerProcess.startLedgerProcess({
    topicPrefix,
    publicKeys,
    sign: (caller) => (caller === null ? signAsPayouts : signAsGateway)('ledger', caller),
  });
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
