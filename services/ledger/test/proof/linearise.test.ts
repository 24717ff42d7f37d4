import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { createOracle, ORACLE_KINDS, type Oracle, type OracleCommand } from '#test/oracle.ts';

import { type Decided, linearise } from './linearise.ts';

const AT_MS = 1_000;
const accountId = newId();

/** What the ledger would have in its rows, had it decided like this. */
function decide(truth: Oracle, command: OracleCommand): Decided {
  const { word, moves } = truth.apply(command, AT_MS);
  const account = truth.accountOf(accountId);
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

test('a block that moves nothing is not placed before a return that was told earlier, whatever is taken in between', () => {
  const [pix, other, hold, payout] = [newId(), newId(), newId(), newId()];
  const credit = (subject: string, amount: number): OracleCommand => {
    return { id: newId(), accountId, kind: 'credit', subject, amount, releaseAtMs: null };
  };
  const take = (holdId: string, of: string | null, amount: number): OracleCommand => {
    const named = { holdId, resourceId: newId() };
    return { id: newId(), accountId, kind: 'take', pix: of, amount, fee: 0, ...named };
  };
  const commands: OracleCommand[] = [
    credit(pix, 100),
    credit(other, 500),
    take(hold, pix, 100),
    take(payout, null, 10),
    { id: newId(), accountId, kind: 'pix_return', subject: pix, amount: 49 },
    { id: newId(), accountId, kind: 'block', subject: pix, dispute: newId(), amount: 33 },
  ];
  const truth = createOracle();
  const decided = commands.map((command) => decide(truth, command));
  expect(decided.map(({ found }) => found.word)).toEqual([
    ...Array.from({ length: 5 }, () => 'booked'),
    'noted',
  ]);
  // Holds that are taken are told by no event.
  const told = new Map(
    commands.filter(({ kind }) => kind !== 'take').map(({ id }, place) => [id, place]),
  );
  const paper = createOracle();
  expect(linearise(paper, decided, told)).toEqual([]);
  expect(paper.books.pix.get(pix)).toEqual(truth.books.pix.get(pix));
  expect(truth.books.pix.get(pix)).toMatchObject({ short: 33, returned: 49 });
});
