import { newId } from '@pixmesh/kernel/ids';

import { type Aim, atLeast, atMost } from '../aims.ts';
import { withClient } from '../durable-server.ts';
import { medianOf, runInTurns } from '../rounds.ts';
import type { ServiceInfra } from '../service-process.ts';
import { readHotShare, readSchemaBytes } from '../table-figures.ts';
import { startBaselineLedger } from './baseline-ledger.ts';
import { driveEngine } from './engine-driver.ts';
import { type ReserveFigure, reserveFigure } from './ledger-figures.ts';
import { ledgerUrl } from './ledger-process.ts';

const ACCOUNTS = 1_000;
const WRITERS = [1, 2, 3, 4];
/** As many as the service has. */
const WRITERS_DEFAULT = 2;
const SWEEP_SECONDS = 3;
const ROUNDS = 3;
const ROUND_SECONDS = 6;
const LIGHT_SECONDS = 5;

type Spread = 'uniform' | 'hot';
/** In turn. */
const MEASURED = ['baseline uniform', 'ours uniform', 'baseline hot', 'ours hot'] as const;
type Rounds = Record<(typeof MEASURED)[number], ReserveFigure[]>;

/**
 * Reserve commands at the SQL layer: the engine's batches beside a function call per command, in the same server,
 * round by round, so that a drift of the machine meets both.
 */
export async function benchReserves(infra: ServiceInfra): Promise<Aim[]> {
  const accounts = Array.from({ length: ACCOUNTS }, () => newId());
  const url = ledgerUrl(infra);
  await using baseline = await startBaselineLedger(infra.postgresUrl, ACCOUNTS);
  await driveEngine({ mode: 'fund', url, accounts });
  await ours('uniform', 1);
  await withClient(infra.postgresUrl, (client) => client.query('vacuum analyze'));
  // First, while the indexes are as the uniform load made them: one hot account splits their pages otherwise.
  const tables = await measureTables();
  const writers = await findWriters();
  const rounds = await runInTurns(MEASURED, ROUNDS, async (name) => {
    const [side, spread] = name.split(' ') as ['baseline' | 'ours', Spread];
    const figure =
      side === 'ours'
        ? await ours(spread, writers, ROUND_SECONDS)
        : await baseline.run(ROUND_SECONDS, spread);
    print(`${side.padEnd(8)} ${spread}`, figure);
    return figure;
  });
  return [...aimsOf(rounds), ...tables, ...(await measureLightLoad())];

  async function ours(spread: Spread, writers: number, seconds = SWEEP_SECONDS) {
    const chosen = spread === 'hot' ? accounts.slice(0, 1) : accounts;
    const input = { url, accounts: chosen, writers, seconds };
    const output = await driveEngine({ mode: 'batches', ...input });
    await driveEngine({ mode: 'audit', url });
    return reserveFigure(output.commands, output.seconds);
  }

  /** One number of writers for both spreads: a hot account cannot be known in advance. */
  async function findWriters(): Promise<number> {
    const sums: { writers: number; sum: number }[] = [];
    for (const count of WRITERS) {
      const uniform = await ours('uniform', count);
      const hot = await ours('hot', count);
      print(`ours uniform, writers ${count}`, uniform);
      print(`ours hot, writers ${count}`, hot);
      sums.push({ writers: count, sum: uniform.perSecond + hot.perSecond });
    }
    return sums.sort((one, other) => other.sum - one.sum)[0]?.writers ?? 1;
  }

  async function measureTables(): Promise<Aim[]> {
    const before = await readSchemaBytes(infra.postgresUrl, 'ledger');
    const { commands } = await ours('uniform', WRITERS_DEFAULT, ROUND_SECONDS);
    const after = await readSchemaBytes(infra.postgresUrl, 'ledger');
    const hotShare = await readHotShare(infra.postgresUrl, 'ledger', 'accounts');
    return [
      atMost('bytes per reserve command, with indexes', (after - before) / commands, 700),
      atLeast('HOT share of updates of accounts, %', hotShare * 100, 95),
    ];
  }

  async function measureLightLoad(): Promise<Aim[]> {
    const light = await driveEngine({ mode: 'light', url, accounts, seconds: LIGHT_SECONDS });
    return [
      atMost('light load, one in flight: p50, ms', light.p50Ms, 3),
      atMost('light load, one in flight: p99, ms', light.p99Ms, 10),
    ];
  }
}

function aimsOf(rounds: Rounds): Aim[] {
  const rate = (name: keyof Rounds) => medianOf(rounds[name], ({ perSecond }) => perSecond);
  const [baseUniform, baseHot] = [rate('baseline uniform'), rate('baseline hot')];
  const [uniform, hot] = [rate('ours uniform'), rate('ours hot')];
  console.log(`\nmedians of ${ROUNDS} rounds, reserve commands/s`);
  console.log(`baseline: uniform ${baseUniform.toFixed(0)}, hot ${baseHot.toFixed(0)}`);
  console.log(`ours:     uniform ${uniform.toFixed(0)}, hot ${hot.toFixed(0)}`);
  console.log(`baseline hot / uniform: ${(baseHot / baseUniform).toFixed(2)}`);
  return [
    atLeast('ours uniform, /s', uniform, 15_000),
    atLeast('ours hot / uniform', hot / uniform, 0.8),
    atLeast('ours / baseline, uniform', uniform / baseUniform, 10),
    atLeast('ours / baseline, hot', hot / baseHot, 10),
  ];
}

function print(name: string, { perSecond }: ReserveFigure): void {
  console.log(`${name.padEnd(26)} ${perSecond.toFixed(0).padStart(7)}/s`);
}
