import type { OracleCommand } from '#test/oracle-books.ts';

import type { ModelProcess } from './model-process.ts';
import type { Reply } from './model-vocabulary.ts';
import type { SeededRandom } from './seeded-random.ts';

/** One delivery of one command, and what came of it. Places in time are numbers of a common counter. */
export type Delivery = {
  command: OracleCommand;
  startedAt: number;
  /** Null while, or where, nobody knows what became of it. */
  answered: { at: number; reply: Reply } | null;
};

const SUBMITTERS = 10;
/** Commands that one submitter hands in without waiting between them, as a fetch from the broker does. */
const BURST_MAX = 12;
/** How often a command whose outcome is unknown is delivered again; a crash rate far below one makes it certain. */
const TRIES_MAX = 60;

/**
 * Delivers commands through several processes at once. Every command whose outcome stays unknown is delivered again,
 * later and through whatever process, as the broker or the caller of a hold would do; so in the end each is known.
 */
export async function deliverAtOnce(
  random: SeededRandom,
  processes: readonly ModelProcess[],
  commands: readonly OracleCommand[],
): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  let clock = 0;
  const lists = Array.from({ length: SUBMITTERS }, (): OracleCommand[] => []);
  for (const command of commands) random.pick(lists).push(command);
  await Promise.all(lists.map((list) => submitter(list)));
  return deliveries;

  async function submitter(list: OracleCommand[]): Promise<void> {
    let tries = 0;
    for (let rest = list; rest.length > 0;) {
      const process = random.pick(processes);
      const burst = rest.slice(0, 1 + random.below(BURST_MAX));
      const known = await Promise.all(burst.map((command) => deliver(process, command)));
      const unknown = burst.filter((_, index) => !known[index]);
      tries = unknown.length === burst.length ? tries + 1 : 0;
      if (tries > TRIES_MAX) throw new Error('a command stays unknown however often it is sent');
      rest = [...rest.slice(burst.length), ...random.shuffled(unknown)];
    }
  }

  async function deliver(process: ModelProcess, command: OracleCommand): Promise<boolean> {
    const delivery: Delivery = { command, startedAt: (clock += 1), answered: null };
    deliveries.push(delivery);
    const reply = await process.submit(command);
    if (reply !== null) delivery.answered = { at: (clock += 1), reply };
    return reply !== null;
  }
}
