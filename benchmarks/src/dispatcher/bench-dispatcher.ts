import { type Aim, printAims } from '../aims.ts';
import { benchIsolation } from './bench-isolation.ts';
import { benchLatency } from './bench-latency.ts';
import { type BenchOptions, readBenchOptions, type Scenario } from './bench-options.ts';
import { benchRecovery } from './bench-recovery.ts';
import { openRoad, type Road } from './bench-road.ts';
import { benchRetries } from './bench-retries.ts';
import { benchScaling } from './bench-scaling.ts';
import { benchThroughput } from './bench-throughput.ts';

const RUNS: Readonly<Record<Scenario, (road: Road, options: BenchOptions) => Promise<Aim[]>>> = {
  throughput: benchThroughput,
  latency: benchLatency,
  recovery: benchRecovery,
  retries: benchRetries,
  scaling: benchScaling,
  isolation: benchIsolation,
};

/** From the topic of events to the receivers, seen from outside only, beside a BullMQ worker on the same path. */
export async function benchDispatcher(): Promise<void> {
  const options = readBenchOptions(process.argv.slice(3));
  await using road = await openRoad();
  const aims: Aim[] = [];
  for (const scenario of options.scenarios) aims.push(...(await RUNS[scenario](road, options)));
  printAims(aims);
}
