import { shuffled } from './seeded-random.ts';

/** One kind of request to be timed; answers how long its answer took. */
export type TimedKind = { name: string; send: () => Promise<number> };

/** Until code is compiled, caches are warm and the connection is open, times mean nothing. */
const WARM_UP_ROUNDS = 25;

/**
 * Times several kinds of request one after the other, each once a round and in an order that chance decides
 * anew, so that whatever slows the machine down for a while hits all of them alike.
 */
export async function measureInTurns(
  kinds: readonly TimedKind[],
  { rounds, random }: { rounds: number; random: () => number },
): Promise<Map<string, number[]>> {
  const times = new Map(kinds.map(({ name }) => [name, [] as number[]]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    for (const kind of shuffled(kinds, random)) {
      const durationMs = await kind.send();
      if (round >= 0) times.get(kind.name)?.push(durationMs);
    }
  }
  return times;
}
