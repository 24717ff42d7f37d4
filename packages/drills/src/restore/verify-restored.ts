import { availableOf, CHARGE_CENTS, PAYOUT_CENTS } from '../load/merchant.ts';
import type { DrillMesh, Json } from '../mesh/drill-mesh.ts';
import type { Kept, Lost } from './lost-period.ts';

type Happened = { kept: Kept; lost: Lost };

const JOURNAL_PAGE = 5_000;

/** @throws Error where what was closed after the moment is open again, or what was open is not */
export async function verifyClosed(mesh: DrillMesh, { kept, lost }: Happened): Promise<void> {
  const read = async (key: string) => (await mesh.v1(key, { route: 'GET /account' })).status;
  const act = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await mesh.admin({ route: 'GET /admin/operators', headers })).status;
  };
  const found = {
    revokedKey: await read(kept.keyToRevoke.key),
    keyMadeLater: await read(lost.keyMadeLater),
    liveKey: await read(kept.merchant.key),
    removedOperator: await act(kept.operatorToRemove.token),
    operator: await act(kept.operator.token),
  };
  const expected = {
    revokedKey: 401,
    keyMadeLater: 401,
    liveKey: 200,
    removedOperator: 401,
    operator: 200,
  };
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(JSON.stringify(found));
}

/** The merchant has what its payers paid less what it paid out; the acquirer carried out each order once. One line a problem. */
export async function verifyMoney(mesh: DrillMesh, { kept, lost }: Happened): Promise<string[]> {
  const journal = await readJournal(mesh);
  const paid = [...kept.paid, ...lost.paidLater, ...lost.paidCharges];
  const payouts = [...kept.payouts, ...lost.payouts.values()];
  const expected = paid.length * CHARGE_CENTS - payouts.length * PAYOUT_CENTS;
  const available = await availableOf(mesh, kept.merchant);
  return [
    ...(available === expected ? [] : [`available is ${available}, not ${expected}`]),
    ...countEach(journal, { kind: 'paid', field: 'txid', ids: paid }),
    ...countEach(journal, { kind: 'settled', field: 'id_envio', ids: payouts }),
  ];
}

function countEach(
  journal: readonly Json[],
  { kind, field, ids }: { kind: string; field: string; ids: readonly string[] },
): string[] {
  const counts = new Map<unknown, number>();
  for (const entry of journal) {
    if (entry['kind'] === kind) counts.set(entry[field], (counts.get(entry[field]) ?? 0) + 1);
  }
  return ids
    .map((id) => ({ id, count: counts.get(id.replaceAll('-', '')) ?? 0 }))
    .filter(({ count }) => count !== 1)
    .map(({ id, count }) => `${id} was ${kind} ${count} times`);
}

async function readJournal(mesh: DrillMesh): Promise<Json[]> {
  const entries: Json[] = [];
  for (let after = 0; ;) {
    const route = `GET /control/journal?after=${after}&limit=${JOURNAL_PAGE}`;
    const page = (await mesh.simulator({ route })).body['data'] as Json[];
    entries.push(...page);
    if (page.length < JOURNAL_PAGE) return entries;
    after = Number(page.at(-1)?.['sequence']);
  }
}
