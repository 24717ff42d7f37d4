import type { ClientHistory } from './client-history.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import { type PayoutRecords, verifyPayout, sum } from './verify-payout.ts';
import { admin, balanceOf, type Json, type Merchant, received, simulator, v1 } from './mesh.ts';

const READERS = 8;

type Deliveries = Map<string, { event: string; deliveryId: string }[]>;

/**
 * Compares the client history with the acquirer's journal, the receiver's log and what the API shows, after
 * everything has come to rest. Shares no code with the services. Answers one line per violation.
 */
export async function findViolations(
  history: ClientHistory,
  options: { hookPath?: string } = {},
): Promise<string[]> {
  const merchants = new Map(history.calls.map(({ merchant }) => [merchant.accountId, merchant]));
  const journal = await simulator.journal();
  const { hookPath } = options;
  const deliveries = hookPath === undefined ? null : await readDeliveries(hookPath);
  const violations: string[] = [];
  for (const merchant of merchants.values()) {
    const collected = await collectRecords(merchant, { history, journal, deliveries });
    violations.push(
      ...collected.flatMap(verifyPayout),
      ...(await checkBalance(merchant, collected, journal)),
      ...(await checkList(merchant, collected)),
    );
  }
  return violations;
}

async function collectRecords(
  merchant: Merchant,
  records: { history: ClientHistory; journal: readonly Json[]; deliveries: Deliveries | null },
): Promise<PayoutRecords[]> {
  const own = records.history.calls.filter((one) => one.merchant.accountId === merchant.accountId);
  const sends = Map.groupBy(records.journal, (entry) => entry.id_envio);
  const journals = Map.groupBy(await listJournals(merchant), (one) => one.resource_id);
  const asked = [...Map.groupBy(own, (one) => one.id)];
  const collected: PayoutRecords[] = [];
  await inParallel(READERS, asked.length, async (index) => {
    const [id, calls] = asked[index] ?? ['', []];
    const answer = await v1(merchant, `GET /payouts/${id}`);
    collected.push({
      id,
      calls,
      payout: answer.status === 200 ? answer.body : null,
      sends: sends.get(id.replaceAll('-', '')) ?? [],
      journals: journals.get(id) ?? [],
      deliveries: records.deliveries && (records.deliveries.get(id) ?? []),
    });
  });
  return collected;
}

/** I2 and I8 over all: the balance is what the acquirer got for it less what the payouts that count cost. */
async function checkBalance(
  merchant: Merchant,
  collected: readonly PayoutRecords[],
  journal: readonly Json[],
): Promise<string[]> {
  const { available } = await balanceOf(merchant);
  const funding = new Set(merchant.funding.map((id) => id.replaceAll('-', '')));
  const paid = journal.filter((one) => one.kind === 'paid' && funding.has(one.txid));
  const spent = collected
    .map(({ payout }) => payout)
    .filter((payout) => ['pending', 'processing', 'completed'].includes(payout?.status))
    .map((payout) => payout.amount + payout.fee);
  const expected = sum(paid.map((one) => one.amount)) - sum(spent);
  return available === expected ? [] : [`I2 ${merchant.accountId}: ${available}, not ${expected}`];
}

/** I3 the other way round: nothing exists that nobody asked for. */
async function checkList(
  merchant: Merchant,
  collected: readonly PayoutRecords[],
): Promise<string[]> {
  const known = new Set(collected.map(({ id }) => id));
  const listed = await readPages((query) => v1(merchant, `GET /payouts?${query}`));
  const visible = collected.filter(({ payout }) => payout !== null).length;
  return [
    ...listed.filter(({ id }) => !known.has(id)).map(({ id }) => `I3 ${id}: nobody asked for it`),
    ...(listed.length === visible ? [] : [`I3: ${visible} payouts, ${listed.length} in the list`]),
  ];
}

/** What reached a webhook, by the payout that it speaks of. */
async function readDeliveries(path: string): Promise<Deliveries> {
  const requests = (await received(path)).map((request) => {
    const { id, event, data } = JSON.parse(Buffer.from(request.body_base64, 'base64').toString());
    return { payoutId: data.id, event, deliveryId: id };
  });
  return Map.groupBy(requests, (one) => one.payoutId);
}

async function listJournals(merchant: Merchant): Promise<Json[]> {
  return await readPages((query) =>
    admin('GET', `/admin/accounts/${merchant.accountId}/journals?${query}`),
  );
}

async function readPages(
  read: (query: string) => Promise<{ status: number; body: Json }>,
): Promise<Json[]> {
  const items: Json[] = [];
  for (let after = ''; ;) {
    const { status, body } = await read(`limit=100${after}`);
    if (status !== 200) throw new Error(`a list answered ${status}: ${JSON.stringify(body)}`);
    items.push(...body.data);
    if (!body.has_more) return items;
    after = `&starting_after=${body.data.at(-1).id}`;
  }
}
