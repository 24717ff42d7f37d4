import { createPool } from '@pixmesh/postgres/pool';
import { type Republication, republishTopic } from '@pixmesh/postgres/republish-topic';

/** Services with an outbox, by their schemas. */
const SCHEMAS_WITH_OUTBOX = ['gateway', 'charges', 'payouts', 'ledger'];

/** Rebuilds a topic from the `events` of the services that write to it; answers how many were queued, by schema. */
export async function republish(
  postgresUrl: string,
  asked: Republication,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const schema of SCHEMAS_WITH_OUTBOX) {
    const url = new URL(postgresUrl);
    url.searchParams.set('options', `-c search_path=${schema}`);
    await using db = createPool({ url: url.href, applicationName: 'republish', max: 1 });
    counts[schema] = await republishTopic(db, asked);
  }
  return counts;
}
