import assert from 'node:assert';

import { AMOUNT_CENTS_MAX, type Cents, toCents } from '@pixmesh/kernel/money';

const AMOUNT_TEXT = /^([0-9]{1,10})\.([0-9]{2})$/;
/** A balance adds many amounts up, and is below zero where the account was debited for a lost dispute. */
const BALANCE_TEXT = /^(-?)([0-9]{1,15})\.([0-9]{2})$/;

/** Reads an amount of reais such as `10.00` into cents, or null when the text is none. No floats (decision 219). */
export function parseAmountText(text: string): Cents | null {
  const match = AMOUNT_TEXT.exec(text);
  return match ? toCents(BigInt(`${match[1]}${match[2]}`)) : null;
}

/** Writes cents as the acquirer wants them: reais, a dot and two digits. */
export function formatAmountText(amountCents: bigint): string {
  assert(amountCents >= 0n && amountCents <= AMOUNT_CENTS_MAX, 'amount out of range');
  return `${amountCents / 100n}.${String(amountCents % 100n).padStart(2, '0')}`;
}

/** Reads a balance of reais, which may be negative, into cents, or null when the text is none. */
export function parseBalanceText(text: string): bigint | null {
  const match = BALANCE_TEXT.exec(text);
  if (match === null) return null;
  const cents = BigInt(`${match[2]}${match[3]}`);
  return match[1] === '' ? cents : -cents;
}

export function formatBalanceText(amountCents: bigint): string {
  const cents = amountCents < 0n ? -amountCents : amountCents;
  const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
  return amountCents < 0n ? `-${text}` : text;
}
