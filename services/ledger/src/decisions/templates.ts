import { assertNever } from '@pixmesh/kernel/app-error';

import type { AccountKind } from '#accounts/chart-of-accounts.ts';

/** One movement on one account of the owner: above zero a credit, below zero a debit. */
export type Posting = { kind: AccountKind; amount: bigint };

/** The sums a command names, and how much of them comes out of a block or goes into one. */
export type Money = { amount: bigint; fee: bigint; ofBlock?: bigint };

/** `total` is amount and fee; `block` and `rest` are the total in two parts. */
type Line = { account: AccountKind; of: 'amount' | 'fee' | 'total' | 'block' | 'rest' };

export type Template = {
  debits: readonly Line[];
  credits: readonly Line[];
  /** May take `available` below zero, and raises `forced_debit` by as much (decisions 136 to 138). */
  mayForce: boolean;
};

/**
 * Every way in which money may move. A template nets to zero for all sums and touches each account at most once; the
 * database refuses whatever does not.
 */
export const TEMPLATES = {
  /** Amount and fee leave the balance together, or not at all (decision 135). */
  holdTake: transfer('available', 'held', 'total'),
  /** The money has left: the amount to the recipient, the fee to the platform. */
  holdSettle: {
    debits: [{ account: 'held', of: 'total' }],
    credits: [
      { account: 'acquirer_clearing', of: 'amount' },
      { account: 'fees', of: 'fee' },
    ],
    mayForce: false,
  },
  /** Amount and fee return (decision 113). */
  holdRelease: transfer('held', 'available', 'total'),
  /** A refund is taken out of the block of its Pix first (decision 79); the rest as any hold. */
  refundHoldTake: {
    debits: [
      { account: 'blocked', of: 'block' },
      { account: 'available', of: 'rest' },
    ],
    credits: [{ account: 'held', of: 'total' }],
    mayForce: false,
  },
  /** What an open dispute claims of it goes back to the block. */
  refundHoldRelease: {
    debits: [{ account: 'held', of: 'total' }],
    credits: [
      { account: 'blocked', of: 'block' },
      { account: 'available', of: 'rest' },
    ],
    mayForce: false,
  },
  /** A received Pix that its merchant may spend at once. */
  receivedPixCredit: transfer('acquirer_clearing', 'available'),
  /** A received Pix that becomes available later (decision 133). */
  receivedPixCreditPending: transfer('acquirer_clearing', 'pending'),
  /** Its time has come. */
  pendingRelease: transfer('pending', 'available'),
  /** A received Pix that no charge accepts; the platform's own account holds what nobody owns (decision 141). */
  receivedPixSuspend: transfer('acquirer_clearing', 'suspense'),
  /** A completed payout came back (decision 128). */
  payoutReturnCredit: transfer('acquirer_clearing', 'available'),
  /** Money left although its payout had failed (decision 120): it stands in suspense as a debit. */
  payoutSuspendOut: transfer('suspense', 'acquirer_clearing'),
  /** Money stayed although its payout had completed. */
  payoutSuspendIn: transfer('acquirer_clearing', 'suspense'),
  /** The acquirer's price of a movement, borne by the platform (decision 139). */
  acquirerTariffBook: transfer('acquirer_tariffs', 'acquirer_clearing'),
  /** Disputed money leaves the balance, all of it, even below zero. */
  disputeBlock: forced(transfer('available', 'blocked')),
  disputeUnblock: transfer('blocked', 'available'),
  /** What the acquirer gave back, under the MED or not: out of the block first, the rest even below zero. */
  pixReturn: {
    debits: [
      { account: 'blocked', of: 'block' },
      { account: 'available', of: 'rest' },
    ],
    credits: [{ account: 'acquirer_clearing', of: 'total' }],
    mayForce: true,
  },
  /** Money in suspense is its owner's after all. */
  suspenseAccept: transfer('suspense', 'available'),
  /** It leaves the platform's account, for that of its owner: `suspenseCredit`. */
  suspenseHandOver: transfer('suspense', 'acquirer_clearing'),
  /** The acquirer has sent it back. */
  suspenseReturn: transfer('suspense', 'acquirer_clearing'),
  /** What nobody owned is this owner's. */
  suspenseCredit: transfer('acquirer_clearing', 'available'),
} as const satisfies Record<string, Template>;

/** The movements of a template for given sums; a line that moves nothing, such as no fee, is left out. */
export function postingsOf(template: Template, money: Money): Posting[] {
  const postings: Posting[] = [];
  for (const line of template.debits) add(line, -1n);
  for (const line of template.credits) add(line, 1n);
  return postings;

  function add({ account, of }: Line, sign: bigint): void {
    const amount = sumOf(of, money);
    if (amount !== 0n) postings.push({ kind: account, amount: sign * amount });
  }
}

function sumOf(of: Line['of'], { amount, fee, ofBlock = 0n }: Money): bigint {
  switch (of) {
    case 'amount':
      return amount;
    case 'fee':
      return fee;
    case 'total':
      return amount + fee;
    case 'block':
      return ofBlock;
    case 'rest':
      return amount + fee - ofBlock;
    default:
      return assertNever(of);
  }
}

function transfer(from: AccountKind, to: AccountKind, of: Line['of'] = 'amount'): Template {
  return { debits: [{ account: from, of }], credits: [{ account: to, of }], mayForce: false };
}

function forced(template: Template): Template {
  return { ...template, mayForce: true };
}
