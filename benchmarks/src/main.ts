import { benchCharges } from './charges/bench-charges.ts';

/** `npm run bench -- NAME`: one benchmark, with its baseline in the same run. */
const BENCHMARKS: Readonly<Record<string, () => Promise<void>>> = { charges: benchCharges };

const name = process.argv[2] ?? '';
const bench = BENCHMARKS[name];
if (bench) {
  await bench();
} else {
  console.error(`unknown benchmark "${name}"; known: ${Object.keys(BENCHMARKS).join(', ')}`);
  process.exitCode = 1;
}
