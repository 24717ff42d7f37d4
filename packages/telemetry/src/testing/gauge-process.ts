/** Scrapes of a process whose gauges have another value at the second one, or none at the third. */
import { observedGauge } from '../metrics.ts';
import { renderMetrics } from '../running-telemetry.ts';

const scrapes = [
  [
    { value: 1, attributes: { kind: 'gone' } },
    { value: 2, attributes: { kind: 'kept', check: 'a' } },
  ],
  [{ value: 3, attributes: { check: 'a', kind: 'kept' } }],
];
observedGauge('of_scrapes', 'A gauge', async () => scrapes.shift() ?? []);
observedGauge('of_scrapes', 'A gauge', async () => [{ value: 4, attributes: { kind: 'other' } }]);
let reads = 0;
observedGauge('of_scrapes', 'A gauge', async () => {
  reads += 1;
  if (reads === 3) await new Promise(() => undefined);
  return [{ value: 5, attributes: { kind: 'hangs at last' } }];
});

const shown = async (): Promise<string[]> =>
  ((await renderMetrics()) ?? '').split('\n').filter((line) => line.startsWith('of_scrapes'));
const answers = [await shown(), await shown(), await shown()];
process.stdout.write(JSON.stringify(answers), () => process.exit());
