import type { Decision, OracleBooks, OracleCommand } from './oracle-books.ts';

type HoldEnd = Extract<OracleCommand, { kind: 'hold.void' | 'hold.settle' | 'hold.release' }>;

/** Records what later decisions depend on. */
export function recordDecision(
  books: OracleBooks,
  command: OracleCommand,
  decision: Decision,
): void {
  const pix = pixOf(books, command);
  if (decision.pix && pix !== null) books.pix.set(pix, decision.pix);
  if ('holdId' in command) recordHold(books, command, decision);
  else if (command.kind === 'received_pix.credit') recordCredit(books, command, decision);
  else if (command.kind === 'pending.release') books.waiting.delete(command.creditId);
  else recordSuspense(books, command, decision);
}

function recordCredit(
  books: OracleBooks,
  command: OracleCommand & { kind: 'received_pix.credit' },
  decision: Decision,
): void {
  const { accountId, amount, releaseAtMs } = command;
  books.credits.set(command.subject, command);
  if (decision.moves.pending === undefined) return;
  books.waiting.set(command.id, { accountId, amount, releaseAtMs: releaseAtMs ?? 0 });
}

function recordSuspense(books: OracleBooks, command: OracleCommand, decision: Decision): void {
  if (command.kind === 'received_pix.suspend' || command.kind === 'payout.suspend') {
    const { accountId } = command;
    const amount = decision.moves.suspense ?? 0;
    books.items.set(command.id, { accountId, amount, isOpen: true });
  }
  const item = command.kind === 'suspense.resolve' ? books.items.get(command.item) : undefined;
  if (!item || command.kind !== 'suspense.resolve') return;
  if (command.amount < item.amount) item.amount -= command.amount;
  else item.isOpen = false;
}

function recordHold(
  books: OracleBooks,
  command: Extract<OracleCommand, { holdId: string }>,
  decision: Decision,
): void {
  if (command.kind === 'hold.take') recordTake(books, command, decision);
  else if (command.kind !== 'hold.void') recordEnd(books, command, decision);
  else if (!books.holds.has(command.holdId)) tombstone(books, command, 'voided');
}

function recordTake(
  books: OracleBooks,
  command: OracleCommand & { kind: 'hold.take' },
  decision: Decision,
): void {
  if (decision.word === 'voided') return;
  const { accountId, resourceId, amount, fee, pix } = command;
  const isHeld = decision.word === 'booked';
  books.holds.set(command.holdId, {
    accountId,
    resourceId,
    state: isHeld ? 'open' : 'refused',
    wasTaken: isHeld,
    amount,
    fee,
    pix,
    fromBlock: decision.fromBlock ?? 0,
  });
  if (isHeld) books.standing.set(resourceId, command.holdId);
}

function recordEnd(books: OracleBooks, command: HoldEnd, decision: Decision): void {
  const hold = books.holds.get(command.holdId);
  if (!hold) return tombstone(books, command, 'released');
  if (decision.word !== 'booked') return;
  hold.state = command.kind === 'hold.settle' ? 'settled' : 'released';
  if (command.kind === 'hold.release') books.standing.delete(hold.resourceId);
}

function tombstone(books: OracleBooks, command: HoldEnd, state: 'voided' | 'released'): void {
  const { accountId, resourceId } = command;
  const empty = { wasTaken: false, amount: 0, fee: 0, pix: null, fromBlock: 0 };
  books.holds.set(command.holdId, { accountId, resourceId, state, ...empty });
}

/** The Pix that a command changes. */
function pixOf(books: OracleBooks, command: OracleCommand): string | null {
  if (command.kind === 'hold.take') return command.pix;
  if ('holdId' in command) return books.holds.get(command.holdId)?.pix ?? null;
  return 'subject' in command ? command.subject : null;
}
