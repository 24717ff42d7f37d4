import { benchCharges } from './charges/bench-charges.ts';
import { benchDispatcher } from './dispatcher/bench-dispatcher.ts';
import { benchFairness } from './fairness/bench-fairness.ts';
import { benchLedger } from './ledger/bench-ledger.ts';
import { benchLives } from './lives/bench-lives.ts';
import { benchMemory } from './memory/bench-memory.ts';
import { benchPayouts } from './payouts/bench-payouts.ts';
import { benchScaling } from './scaling/bench-scaling.ts';
import { benchScrape } from './scrape/bench-scrape.ts';

/** `npm run bench -- NAME`: one benchmark, with its baseline in the same run. */
const BENCHMARKS: Readonly<Record<string, () => Promise<void>>> = {
  charges: benchCharges,
  dispatcher: benchDispatcher,
  fairness: benchFairness,
  ledger: benchLedger,
  lives: benchLives,
  memory: benchMemory,
  payouts: benchPayouts,
  scaling: benchScaling,
  scrape: benchScrape,
};

const name = process.argv[2] ?? '';
const bench = BENCHMARKS[name];
if (bench) {
  await bench();
} else {
  console.error(`unknown benchmark "${name}"; known: ${Object.keys(BENCHMARKS).join(', ')}`);
  process.exitCode = 1;
}
