import { BROKER_RIGHTS } from '@pixmesh/contracts/internal/broker-rights';
import type { Topic } from '@pixmesh/contracts/topics';
import { createPool } from '@pixmesh/postgres/pool';
import { type Republication, republishTopic } from '@pixmesh/postgres/republish-topic';

/**
 * Rebuilds a topic from the `events` of the services that write to it; answers how many were queued, by schema. The URL
 * is the owner's or a superuser's.
 */
export async function republish(
  adminUrl: string,
  asked: Republication & { topic: Topic },
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const schema of writersOf(asked.topic)) {
    const url = new URL(adminUrl);
    url.searchParams.set('options', `-c search_path=${schema}`);
    await using db = createPool({ url: url.href, applicationName: 'republish', max: 1 });
    counts[schema] = await republishTopic(db, asked);
  }
  return counts;
}

/** A service that writes has its own name as its schema's. */
function writersOf(topic: Topic): string[] {
  return Object.entries(BROKER_RIGHTS)
    .filter(([, { writes }]) => writes.includes(topic))
    .map(([service]) => service);
}
