import {
  type Decision,
  ORACLE_KINDS,
  type OracleAccount,
  type OracleBooks,
  type OracleCommand,
} from './oracle-books.ts';
import { decideExpected } from './oracle-decisions.ts';
import { recordDecision } from './oracle-records.ts';

export type Oracle = ReturnType<typeof createOracle>;

/**
 * Books of its own, in plain numbers, one command after the other, nothing shared with the service: the expected
 * outcome of each command, given those before it.
 */
export function createOracle() {
  const books: OracleBooks = {
    accounts: new Map(),
    holds: new Map(),
    standing: new Map(),
    waiting: new Map(),
    credits: new Map(),
    pix: new Map(),
    items: new Map(),
    decided: new Map(),
  };
  return { books, accountOf, decide, apply };

  function accountOf(accountId: string): OracleAccount {
    const known = books.accounts.get(accountId);
    if (known) return known;
    const zeros = Object.fromEntries(ORACLE_KINDS.map((kind) => [kind, 0]));
    const account = { ...zeros, forced: 0, version: 0 } as OracleAccount;
    books.accounts.set(accountId, account);
    return account;
  }

  /** The expected outcome of the command now, at the ledger's time `atMs`; changes nothing. */
  function decide(command: OracleCommand, atMs: number): Decision {
    const first = books.decided.get(command.id);
    return first ?? decideExpected(books, accountOf(command.accountId), { command, atMs });
  }

  /** Decides and books. A command that was decided before changes nothing. */
  function apply(command: OracleCommand, atMs: number): Decision {
    if (books.decided.has(command.id)) return decide(command, atMs);
    const decision = decide(command, atMs);
    if (decision.isRejected) return decision;
    books.decided.set(command.id, decision);
    move(accountOf(command.accountId), decision);
    recordDecision(books, command, decision);
    return decision;
  }
}

function move(account: OracleAccount, decision: Decision): void {
  for (const kind of ORACLE_KINDS) account[kind] += decision.moves[kind] ?? 0;
  if (decision.word === 'booked') account.version += 1;
  const owed = Math.max(0, -account.available);
  account.forced = decision.forces ? owed : Math.min(account.forced, owed);
}
