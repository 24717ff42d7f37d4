import { setTimeout as delay } from 'node:timers/promises';

import { inParallel } from '@pixmesh/testkit/in-parallel';
import { admin, type Json, type Merchant, readCharge, receivedOn, simulator } from '../e2e/mesh.ts';
import { verifyLife } from './verify-life.ts';
import type { SubscribedMerchant } from './subscribed-merchant.ts';
import type { Life } from './live-one.ts';

const READERS = 8;
/** What is waited for takes seconds: lists are read again, checks come due. */
const ROUND_PAUSE_MS = 500;

/**
 * Waits until nothing contradicts anything in these lives, and answers one line per contradiction that is left. A round
 * asks for what the one before found wanting alone, and for everything once nothing is: a reader that asks for
 * everything all the time keeps from settling what it waits for.
 */
export async function settleLives(
  merchant: SubscribedMerchant,
  lives: readonly Life[],
  timeoutMs: number,
): Promise<string[]> {
  const end = performance.now() + timeoutMs;
  let wanting: readonly Life[] = lives;
  for (;;) {
    const verified = await verifyLives(merchant, wanting);
    wanting = verified.flatMap(({ life, contradictions }) =>
      contradictions.length > 0 ? [life] : [],
    );
    const isOver = performance.now() >= end;
    if (wanting.length === 0 || isOver) {
      const contradictions = await findContradictions(merchant, lives);
      if (contradictions.length === 0 || isOver) return contradictions;
    }
    await delay(ROUND_PAUSE_MS);
  }
}

/**
 * Compares the acquirer's journal with what the API, the ledger and the merchant's endpoint say of every life, and of
 * the merchant's money as a whole. Answers one line per contradiction.
 */
async function findContradictions(
  merchant: SubscribedMerchant,
  lives: readonly Life[],
): Promise<string[]> {
  const verified = await verifyLives(merchant, lives);
  const credited = verified.reduce((sum, { left }) => sum + left, 0);
  const suspense = await readSuspense(merchant);
  return [
    ...verified.flatMap(({ contradictions }) => contradictions),
    ...(await verifyBalances(merchant, { credited, suspense })),
  ];
}

type VerifiedLife = {
  life: Life;
  contradictions: string[];
  /** Cents that the acquirer still holds of it. */
  left: number;
};

async function verifyLives(
  merchant: SubscribedMerchant,
  lives: readonly Life[],
): Promise<VerifiedLife[]> {
  const journal = Map.groupBy(await simulator.journal(), (entry) => entry.txid);
  const suspense = Map.groupBy(await readSuspense(merchant), (item) => item.charge_id);
  const events = Map.groupBy(
    await deliveredTo(merchant.hookPath),
    ({ data }) => data.charge_id ?? data.id,
  );
  const verified: VerifiedLife[] = [];
  await inParallel(READERS, lives.length, async (index) => {
    const life = lives[index] as Life;
    const { chargeId, actions } = life;
    const charge = await readCharge(merchant, chargeId);
    const own = journal.get(chargeId.replaceAll('-', '')) ?? [];
    const contradictions = verifyLife({
      charge,
      disputes: await readPages(`/admin/disputes?charge_id=${chargeId}&limit=100`),
      journal: own,
      suspense: suspense.get(chargeId) ?? [],
      events: events.get(chargeId) ?? [],
    });
    verified.push({
      life,
      contradictions: contradictions.map((line) => `${line} [${actions.join('; ')}]`),
      left: leftOf(charge, own),
    });
  });
  return verified;
}

async function readSuspense({ accountId }: Merchant): Promise<Json[]> {
  return await readPages(`/admin/suspense?account_id=${accountId}&limit=100`);
}

/** What the acquirer still holds of the Pix that paid a charge. */
function leftOf(charge: Json, journal: readonly Json[]): number {
  const endToEndId = charge.pix.end_to_end_id;
  if (endToEndId === null) return 0;
  const own = journal.filter((entry) => entry.end_to_end_id === endToEndId);
  return own.reduce((sum, { kind, amount }) => {
    if (kind === 'paid') return sum + amount;
    return kind === 'returned' ? sum - amount : sum;
  }, 0);
}

/** I1, I2 and I6 over all: available, held and blocked together are what the acquirer holds for the merchant. */
async function verifyBalances(
  merchant: Merchant,
  expected: { credited: number; suspense: readonly Json[] },
): Promise<string[]> {
  const { body } = await admin('GET', `/admin/accounts/${merchant.accountId}/balances`);
  const violations: string[] = [];
  const owned = body.available + body.pending + body.held + body.blocked;
  if (owned !== expected.credited)
    violations.push(`I2 the merchant has ${owned}, the acquirer holds ${expected.credited}`);
  if (body.held !== 0) violations.push(`I16 ${body.held} cents are still held`);
  const open = expected.suspense.filter((item) => item.resolved_at === null);
  const suspended = open.reduce((sum, item) => sum + item.amount, 0);
  if (body.suspense !== suspended)
    violations.push(`I6 suspense is ${body.suspense}, its items ${suspended}`);
  return violations;
}

/** What an endpoint received, each delivery once. */
export async function deliveredTo(
  hookPath: string,
): Promise<{ deliveryId: string; event: string; data: Json }[]> {
  const delivered = (await receivedOn(hookPath)).map((request) => {
    const { id, event, data } = JSON.parse(Buffer.from(request.body_base64, 'base64').toString());
    return { deliveryId: id, event, data };
  });
  return [...new Map(delivered.map((one) => [one.deliveryId, one])).values()];
}

async function readPages(path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let after = ''; ;) {
    const { status, body } = await admin('GET', `${path}${after}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    items.push(...body.data);
    if (!body.has_more) return items;
    after = `&starting_after=${body.data.at(-1).id}`;
  }
}
