import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const GAUGE_PROCESS = fileURLToPath(new URL('testing/gauge-process.ts', import.meta.url));

test('a gauge shows what it reads at a scrape, and nothing that it read before', async () => {
  const args = ['--import', '@pixmesh/telemetry/preload', GAUGE_PROCESS];
  const { PATH = '' } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH } });
  const [first, second, third] = JSON.parse(stdout) as string[][];
  expect(first).toEqual([
    'of_scrapes{kind="gone"} 1',
    'of_scrapes{kind="kept",check="a"} 2',
    'of_scrapes{kind="other"} 4',
    'of_scrapes{kind="hangs at last"} 5',
  ]);
  expect(second).toEqual([
    'of_scrapes{kind="kept",check="a"} 3',
    'of_scrapes{kind="other"} 4',
    'of_scrapes{kind="hangs at last"} 5',
  ]);
  expect(third).toEqual(['of_scrapes{kind="other"} 4']);
});
