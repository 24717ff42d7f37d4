import { setTimeout as delay } from 'node:timers/promises';

import { accessOfFiles } from '@pixmesh/kafka/broker-access';
import { createToolKafka } from '@pixmesh/kafka/kafka-client';
import { readEnds } from '@pixmesh/kafka/topic-ends';
import { TOPICS } from '@pixmesh/contracts/topics';

import { queryOnce } from '../durable-server.ts';
import type { Stack } from '../with-stack.ts';

/** Sessions report what they did at most once a second, and when they come to rest. */
const STATISTICS_DELAY_MS = 2_000;

/** What the whole mesh has used and written so far. */
export type Counters = {
  cpuMs: Record<string, number>;
  commits: number;
  rows: number;
  /** In the write-ahead log, bytes since its beginning. */
  walPosition: number;
  messages: number;
};

/** What each of some lives has cost. */
export type LifeCost = Omit<Counters, 'walPosition'> & { walBytes: number };

const DATABASE_COUNTERS = `
  select
    (select xact_commit from pg_stat_database where datname = current_database()) as commits,
    sum(n_tup_ins + n_tup_upd + n_tup_del) as rows,
    pg_current_wal_lsn() - '0/0'::pg_lsn as wal_position
  from pg_stat_user_tables`;

export async function readCounters(stack: Stack): Promise<Omit<Counters, 'cpuMs'>> {
  await delay(STATISTICS_DELAY_MS);
  const [row] = await queryOnce<Record<string, string>>(stack.postgres_url, DATABASE_COUNTERS);
  return {
    commits: Number(row?.['commits']),
    rows: Number(row?.['rows']),
    walPosition: Number(row?.['wal_position']),
    messages: await countMessages(stack),
  };
}

/** Transactions of the whole mesh so far; those that only read count. */
export async function readCommits(stack: Stack): Promise<number> {
  await delay(STATISTICS_DELAY_MS);
  const [row] = await queryOnce<{ commits: string }>(
    stack.postgres_url,
    'select xact_commit as commits from pg_stat_database where datname = current_database()',
  );
  return Number(row?.commits);
}

async function countMessages(stack: Stack): Promise<number> {
  const access = accessOfFiles(stack.kafka_brokers, stack.kafka_tls);
  const admin = createToolKafka(access, 'bench-lives').admin();
  await admin.connect();
  try {
    const ends = await Promise.all(Object.values(TOPICS).map((topic) => readEnds(admin, topic)));
    const highs = ends.flatMap((partitions) => [...partitions.values()].map(({ high }) => high));
    return highs.reduce((total, high) => total + Number(high), 0);
  } finally {
    await admin.disconnect();
  }
}

export function costPerLife(before: Counters, after: Counters, count: number): LifeCost {
  const names = Object.keys(after.cpuMs);
  const per = (a: number, b: number) => (b - a) / count;
  return {
    cpuMs: Object.fromEntries(
      names.map((name) => [name, per(before.cpuMs[name] ?? 0, after.cpuMs[name] ?? 0)]),
    ),
    commits: per(before.commits, after.commits),
    rows: per(before.rows, after.rows),
    walBytes: per(before.walPosition, after.walPosition),
    messages: per(before.messages, after.messages),
  };
}
