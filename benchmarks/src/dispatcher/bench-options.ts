import { parseArgs } from 'node:util';

/** In this order: what hangs is left behind for the end. */
const SCENARIOS = ['throughput', 'latency', 'recovery', 'retries', 'scaling', 'isolation'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export type BenchOptions = {
  scenarios: readonly Scenario[];
  /** Sender processes beside one intake; null for one process with every role. */
  senders: number | null;
  /** Of each measurement; null for what the scenario takes by default. */
  seconds: number | null;
};

/** `npm run bench -- dispatcher [--only throughput,latency] [--seconds 120] [--senders 2]`. */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: SCENARIOS.join(',') },
      seconds: { type: 'string' },
      senders: { type: 'string' },
    },
  });
  const wanted = values.only.split(',');
  const unknown = wanted.find((name) => !SCENARIOS.some((scenario) => scenario === name));
  if (unknown !== undefined) throw new Error(`no scenario "${unknown}": ${SCENARIOS.join(', ')}`);
  return {
    scenarios: SCENARIOS.filter((scenario) => wanted.includes(scenario)),
    senders: readCount('senders', values.senders),
    seconds: readCount('seconds', values.seconds),
  };
}

function readCount(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name}: expected a whole number`);
  return count;
}
