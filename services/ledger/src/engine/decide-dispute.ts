import type { BlockDisputed, ReturnDisputed, UnblockDisputed } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import { TEMPLATES, type Template } from '#journals/templates.ts';

import type { BatchDesk } from './batch-desk.ts';

type DisputeCommand = BlockDisputed | UnblockDisputed | ReturnDisputed;

/**
 * Disputed money: out of the balance, and back or away (decisions 136 to 138). Only a block and a return out of the
 * balance may leave it below zero; nothing is given back or returned beyond what stands blocked.
 */
export function decideDispute(desk: BatchDesk, command: DisputeCommand): Outcome {
  const money = { amount: command.amount, fee: 0n };
  const booking = { template: templateOf(command), money, resourceId: command.chargeId };
  const outcome = desk.book(command, booking);
  if (outcome.kind === 'decided') desk.announce(command, 'booked');
  return outcome;
}

function templateOf(command: DisputeCommand): Template {
  if (command.kind === 'block_disputed') return TEMPLATES.blockDisputed;
  if (command.kind === 'unblock_disputed') return TEMPLATES.unblockDisputed;
  return command.from === 'blocked' ? TEMPLATES.returnFromBlocked : TEMPLATES.returnFromAvailable;
}
