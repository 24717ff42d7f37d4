import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { createOracle, type Oracle } from '#test/oracle.ts';
import { ORACLE_KINDS, type OracleCommand } from '#test/oracle-books.ts';

import { type Decided, linearise } from './linearise.ts';

const AT_MS = 1_000;
const accountId = newId();

/** What the ledger would have in its rows, had it decided like this. */
function decide(ledger: Oracle, command: OracleCommand): Decided {
  const { word, moves } = ledger.apply(command, AT_MS);
  const account = ledger.accountOf(accountId);
  const kinds = ORACLE_KINDS.filter((kind) => moves[kind] !== undefined);
  const entries = kinds.map((kind) => ({
    kind,
    amount: moves[kind] ?? 0,
    balanceAfter: account[kind],
  }));
  const version = entries.length > 0 ? account.version : null;
  const { id: commandId, kind } = command;
  return { command, found: { commandId, accountId, kind, word, version, atMs: AT_MS, entries } };
}

test('a block that moves nothing is not placed before a return that was announced earlier, whatever is taken in between', () => {
  const [pix, other, hold, payout] = [newId(), newId(), newId(), newId()];
  const credit = (subject: string, amount: number): OracleCommand => {
    return {
      id: newId(),
      accountId,
      kind: 'received_pix.credit',
      subject,
      amount,
      releaseAtMs: null,
    };
  };
  const take = (holdId: string, of: string | null, amount: number): OracleCommand => {
    const named = { holdId, resourceId: newId() };
    return { id: newId(), accountId, kind: 'hold.take', pix: of, amount, fee: 0, ...named };
  };
  const commands: OracleCommand[] = [
    credit(pix, 100),
    credit(other, 500),
    take(hold, pix, 100),
    take(payout, null, 10),
    { id: newId(), accountId, kind: 'received_pix.return', subject: pix, amount: 49 },
    { id: newId(), accountId, kind: 'dispute.block', subject: pix, dispute: newId(), amount: 33 },
  ];
  const ledger = createOracle();
  const decided = commands.map((command) => decide(ledger, command));
  expect(decided.map(({ found }) => found.word)).toEqual([
    ...Array.from({ length: 5 }, () => 'booked'),
    'noted',
  ]);
  // Holds that are taken are told by no event.
  const places = new Map(
    commands.filter(({ kind }) => kind !== 'hold.take').map(({ id }, place) => [id, place]),
  );
  const oracle = createOracle();
  expect(linearise(oracle, decided, places)).toEqual([]);
  expect(oracle.books.pix.get(pix)).toEqual(ledger.books.pix.get(pix));
  expect(ledger.books.pix.get(pix)).toMatchObject({ short: 33, returned: 49 });
});
