import type { SuspenseCredit, SuspenseResolve } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';

import type { BatchDraft } from './batch-draft.ts';
import { TEMPLATES, type Template } from './templates.ts';

const TEMPLATE_OF = {
  accept: TEMPLATES.suspenseAccept,
  hand_over: TEMPLATES.suspenseHandOver,
  return: TEMPLATES.suspenseReturn,
} as const satisfies Record<SuspenseResolve['action'], Template>;

/**
 * What becomes of money in suspense (decision 141): an item ends once. Of what the acquirer has sent back in parts,
 * each part leaves the item by itself, and the last one ends it; whatever else ends it is for exactly what is left.
 */
export function decideSuspense(
  draft: BatchDraft,
  command: SuspenseResolve | SuspenseCredit,
): Outcome {
  if (command.kind === 'suspense.credit') return book(draft, command, TEMPLATES.suspenseCredit);
  const { accountId, itemId, amount } = command;
  const item = draft.suspenseItem(itemId);
  const isPart = item !== null && command.action === 'return' && amount < item.amount;
  if (item?.accountId !== accountId || (item.amount !== amount && !isPart)) {
    const message = `no item ${itemId} of this account and amount stands in suspense`;
    return { kind: 'rejected', reason: 'unknown_item', message };
  }
  if (item.isResolved) {
    const message = `item ${itemId} of suspense has been resolved by another command`;
    return { kind: 'rejected', reason: 'item_resolved', message };
  }
  const atMs = draft.timeFor(accountId);
  const outcome = book(draft, command, TEMPLATE_OF[command.action]);
  if (outcome.kind !== 'decided') return outcome;
  if (isPart) draft.changeItem(itemId, { amount: item.amount - amount, resolvedAtMs: null });
  else draft.changeItem(itemId, { amount, resolvedAtMs: atMs });
  return outcome;
}

function book(
  draft: BatchDraft,
  command: SuspenseResolve | SuspenseCredit,
  template: Template,
): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const outcome = draft.book(command, {
    template,
    money,
    resourceId: command.chargeId ?? command.payoutId,
  });
  if (outcome.kind === 'decided') draft.announce(command, 'booked', { moved: command.amount });
  return outcome;
}
