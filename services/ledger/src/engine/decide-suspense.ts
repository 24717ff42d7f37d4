import type { CreditSuspense, ResolveSuspense } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import { TEMPLATES, type Template } from '#journals/templates.ts';

import type { BatchDesk } from './batch-desk.ts';

const TEMPLATE_OF = {
  accept: TEMPLATES.acceptSuspense,
  hand_over: TEMPLATES.handOverSuspense,
  return: TEMPLATES.returnSuspense,
} as const satisfies Record<ResolveSuspense['action'], Template>;

/**
 * What becomes of money in suspense (decision 141): an item ends once. Of what the acquirer has sent back in parts, each
 * part leaves the item by itself, and the last one ends it; whatever else ends it is for exactly what is left.
 */
export function decideSuspense(
  desk: BatchDesk,
  command: ResolveSuspense | CreditSuspense,
): Outcome {
  if (command.kind === 'credit_suspense') return book(desk, command, TEMPLATES.creditSuspense);
  const { accountId, itemId, amount } = command;
  const item = desk.suspenseItem(itemId);
  const isPart = item !== null && command.action === 'return' && amount < item.amount;
  if (item?.accountId !== accountId || (item.amount !== amount && !isPart)) {
    const message = `no item ${itemId} of this account and amount stands in suspense`;
    return { kind: 'rejected', reason: 'unknown_item', message };
  }
  if (item.isResolved) {
    const message = `item ${itemId} of suspense has been resolved by another command`;
    return { kind: 'rejected', reason: 'item_resolved', message };
  }
  const atMs = desk.timeFor(accountId);
  const outcome = book(desk, command, TEMPLATE_OF[command.action]);
  if (outcome.kind !== 'decided') return outcome;
  if (isPart) desk.changeItem(itemId, { amount: item.amount - amount, resolvedAtMs: null });
  else desk.changeItem(itemId, { amount, resolvedAtMs: atMs });
  return outcome;
}

function book(
  desk: BatchDesk,
  command: ResolveSuspense | CreditSuspense,
  template: Template,
): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = desk.book(command, {
    template,
    money,
    resourceId: command.chargeId ?? command.payoutId,
  });
  if (outcome.kind === 'decided') desk.announce(command, 'booked', { moved: command.amount });
  return outcome;
}
