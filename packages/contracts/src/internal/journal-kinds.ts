import { z } from 'zod';

/** By kind of command, the word under which its journal is stored, counted and listed. Fixed for ever. */
export const JOURNAL_KINDS = {
  'hold.take': 'take_hold',
  'hold.void': 'void_hold',
  'hold.settle': 'settle_hold',
  'hold.release': 'release_hold',
  'received_pix.credit': 'credit_received_pix',
  'received_pix.suspend': 'suspend_received_pix',
  'pending.release': 'release_pending',
  'payout_return.credit': 'credit_payout_return',
  'payout.suspend': 'suspend_payout',
  'acquirer_tariff.book': 'book_acquirer_tariff',
  'dispute.block': 'block_disputed',
  'dispute.unblock': 'unblock_disputed',
  'dispute.return': 'return_disputed',
  'received_pix.return': 'return_received_pix',
  'suspense.resolve': 'resolve_suspense',
  'suspense.credit': 'credit_suspense',
} as const;

export const JournalKind = z.enum(JOURNAL_KINDS);
export type JournalKind = z.infer<typeof JournalKind>;
