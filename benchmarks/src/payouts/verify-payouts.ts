import { setTimeout as delay } from 'node:timers/promises';

import { until } from '../until.ts';
import type { Stack } from '../with-stack.ts';
import { FEE_CENTS, isAnyProcessing, listPayouts, type Merchant } from './merchant.ts';

/** While a service compares everything. */
const REPORT_POLL_MS = 500;

type Breaks = {
  breaks: number;
  checks: { name: string; breaks: unknown[] }[];
  full_runs: unknown[];
};

/** Waits until the acquirer has settled everything that was accepted. */
export async function untilSettled(stack: Stack, merchant: Merchant): Promise<void> {
  const isSettled = async () => !(await isAnyProcessing(stack, merchant));
  await until('settlement of what was accepted', isSettled);
}

/**
 * What was promised under load holds afterwards.
 * @throws when a 201 does not exist, the balance is wrong by a cent, or reconciliation finds a break
 */
export async function verifyPayouts(
  stack: Stack,
  merchant: Merchant,
  accepted: readonly string[],
): Promise<void> {
  const listed = await listPayouts(stack, merchant);
  const found = new Map(listed.map((payout) => [payout.id, payout]));
  const lost = accepted.filter((id) => !found.has(id));
  if (lost.length > 0) throw new Error(`${lost.length} payouts answered 201 and do not exist`);
  const spent = listed.reduce((total, { amount, fee }) => total + amount + fee, 0);
  if (listed.some((payout) => payout.fee !== FEE_CENTS)) throw new Error('a fee is wrong');
  const available = await merchant.client.getAvailable();
  if (available !== merchant.fundsCents - spent) {
    throw new Error(`${available} cents are available, not ${merchant.fundsCents - spent}`);
  }
  const { breaks, checks } = await reconcile(stack);
  const broken = checks.filter((check) => check.breaks.length > 0).map(({ name }) => name);
  if (breaks > 0) throw new Error(`reconciliation found ${breaks} breaks: ${broken.join(', ')}`);
  console.log(
    `verified: ${accepted.length} answered 201, ${listed.length} exist, balance exact, 0 breaks`,
  );
}

/**
 * All of it, which takes as long as it takes: every service stores the request, and the report shows when it has ended.
 */
async function reconcile(stack: Stack): Promise<Breaks> {
  let report = await askForReport(stack, { method: 'POST', body: JSON.stringify({ full: true }) });
  while (report.full_runs.length > 0) {
    await delay(REPORT_POLL_MS);
    report = await askForReport(stack, { method: 'GET' });
  }
  return report;
}

async function askForReport(stack: Stack, request: RequestInit): Promise<Breaks> {
  const answer = await fetch(`${stack.admin_url}/admin/reconciliation`, {
    ...request,
    headers: { authorization: `Bearer ${stack.admin_token}`, 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(`reconciliation answered ${answer.status}`);
  return (await answer.json()) as Breaks;
}
