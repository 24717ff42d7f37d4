import type { Database } from '@pixmesh/postgres/pool';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll } from 'vitest';

import type { OracleCommand } from '#test/oracle-books.ts';

import { type ModelProcess, startModelProcess } from './model-process.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const PROCESSES = 4;
/** Of one command whose outcome stays unknown: a row is locked for half a second at most. */
const TRIES_MAX = 100;

export type RacingProcesses = {
  readonly db: Database;
  readonly random: SeededRandom;
  /** The outcome of a command that one of the processes has decided; asked for again while it is unknown. */
  submit(command: OracleCommand): Promise<string>;
};

/** Processes of the service over one database, for all tests of a file. */
export function useRacingProcesses(seed: number): RacingProcesses {
  const random = seededRandom(seed);
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let processes: ModelProcess[] = [];
  beforeAll(async () => {
    database = await createTestDatabase('ledger');
    processes = Array.from({ length: PROCESSES }, () =>
      startModelProcess(database.url, random, { crashes: false }),
    );
  });
  afterAll(async () => {
    for (const process of processes) await process[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  return {
    random,
    get db() {
      return database.db;
    },
    submit: async (command) => {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const reply = await random.pick(processes).submit(command);
        if (reply !== null) return reply.word;
      }
      throw new Error(`the outcome of command ${command.id} stays unknown`);
    },
  };
}

/** Runs `findWrong` again and again until it is stopped; answers all that was wrong in any snapshot. */
export function watchSnapshots(findWrong: () => Promise<string[]>): { stop(): Promise<string[]> } {
  const wrong: string[] = [];
  const over = new AbortController();
  const reading = (async () => {
    do wrong.push(...(await findWrong()));
    while (!over.signal.aborted);
  })();
  return {
    stop: async () => {
      over.abort();
      await reading;
      return wrong;
    },
  };
}
