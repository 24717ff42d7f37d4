import { inParallel } from '../e2e/in-parallel.ts';
import { admin, type Json, type Merchant, readCharge, received, simulator } from '../e2e/mesh.ts';
import { judgeLife } from './judge-lives.ts';
import type { ListeningMerchant } from './listening-merchant.ts';
import type { Life } from './live-one.ts';

const READERS = 8;

/**
 * Compares the acquirer's journal with what the API, the ledger and the merchant's endpoint say of every life, and of
 * the merchant's money as a whole. Answers one line per contradiction.
 */
export async function findContradictions(
  merchant: ListeningMerchant,
  lives: readonly Life[],
): Promise<string[]> {
  const journal = Map.groupBy(await simulator.journal(), (entry) => entry.txid);
  const suspense = await readPages(`/admin/suspense?account_id=${merchant.accountId}&limit=100`);
  const events = await toldOf(merchant.hookPath);
  const violations: string[] = [];
  let credited = 0;
  await inParallel(READERS, lives.length, async (index) => {
    const { chargeId = '', deeds = [] } = lives[index] ?? {};
    const charge = await readCharge(merchant, chargeId);
    const disputes = await readPages(`/admin/disputes?charge_id=${chargeId}&limit=100`);
    const own = journal.get(chargeId.replaceAll('-', '')) ?? [];
    const records = {
      charge,
      disputes,
      journal: own,
      suspense: suspense.filter((item) => item.charge_id === chargeId),
      events: events.filter(({ data }) => data.id === chargeId || data.charge_id === chargeId),
    };
    violations.push(...judgeLife(records).map((line) => `${line} [${deeds.join('; ')}]`));
    credited += leftOf(charge, own);
  });
  return [...violations, ...(await judgeBalances(merchant, { credited, suspense }))];
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
async function judgeBalances(
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

/** What an endpoint was told, each delivery once. */
export async function toldOf(
  hookPath: string,
): Promise<{ deliveryId: string; event: string; data: Json }[]> {
  const told = (await received(hookPath)).map((request) => {
    const { id, event, data } = JSON.parse(Buffer.from(request.body_base64, 'base64').toString());
    return { deliveryId: id, event, data };
  });
  return [...new Map(told.map((one) => [one.deliveryId, one])).values()];
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
