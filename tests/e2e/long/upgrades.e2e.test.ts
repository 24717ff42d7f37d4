import { mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { requestDeploy, requestRestart } from '@pixmesh/local-stack/mesh/control-client';
import { eventually } from '@pixmesh/testkit/eventually';
import { beforeAll, expect, test } from 'vitest';

import { findBreaks } from '../find-breaks.ts';
import { aMerchant, homeOf, type Merchant } from '../mesh.ts';
import { bootOwnStack } from '../own-stack.ts';
import { aPayingMerchant, COST_CENTS } from '../payout-calls.ts';
import { checkOutLastRelease } from './last-release.ts';
import { type RotationLoad, startRotationLoad } from './rotation-load.ts';

/**
 * The release before is upgraded to this checkout, rolled back and upgraded again, and then restarted over and over, one
 * process at a time, while calls go on: none fails, and nothing is lost.
 */

const SERVICES = ['ledger', 'charges', 'payouts', 'webhook-dispatcher', 'gateway'];
const JOBS = ['deploy', 'deploy-callback', 'acquirer-simulator'];
const REQUESTS_PER_SECOND = Number(process.env['PIXMESH_UPGRADE_RATE'] ?? 50);
/** Of each service, its two processes in turn. */
const RESTARTS = Number(process.env['PIXMESH_RESTARTS'] ?? 20);
const FUNDED_PAYOUTS = 10_000;
/** A hundred restarts, on a busy machine. */
const WORK_MS_MAX = 2_400_000;
const SETTLED_MS_MAX = 180_000;
const DEPLOYED_MS_MAX = 300_000;

const PROCESSES = SERVICES.flatMap((name) => [name, `${name}-2`]);
const links = mkdtempSync(path.join(tmpdir(), 'pixmesh-sources-'));
const before = checkOutLastRelease();
const after = process.cwd();
for (const name of [...PROCESSES, ...JOBS]) runFrom(before, name);

bootOwnStack('upgrades', { PIXMESH_SOURCES: links }, [
  '--scale',
  SERVICES.map((name) => `${name}=2`).join(','),
]);

let shop: Merchant;
let payer: Merchant;
beforeAll(async () => {
  shop = await aMerchant();
  payer = await aPayingMerchant(FUNDED_PAYOUTS * COST_CENTS);
}, WORK_MS_MAX);

test(
  'an upgrade of the last release, its roll-back and the upgrade again fail no call and lose nothing',
  async () => {
    await underLoad('upgrade, roll-back, upgrade', async () => {
      runFrom(after, 'deploy');
      // Run again where it fails, as an operator does.
      await eventually(() => requestDeploy(homeOf()), DEPLOYED_MS_MAX);
      for (const version of [after, before, after]) {
        for (const name of PROCESSES) {
          runFrom(version, name);
          await requestRestart(homeOf(), name);
        }
      }
    });
  },
  WORK_MS_MAX,
);

test(
  'restarts of every service, one process at a time, fail no call and lose nothing',
  async () => {
    await underLoad(`${RESTARTS} restarts of each service`, async () => {
      for (let round = 0; round < RESTARTS; round += 1) {
        for (const name of SERVICES) {
          await requestRestart(homeOf(), round % 2 === 0 ? name : `${name}-2`);
        }
      }
    });
  },
  WORK_MS_MAX,
);

/** What a process, or a job, runs from at its next start. */
function runFrom(checkout: string, name: string): void {
  const next = path.join(links, `.next-${name}`);
  symlinkSync(checkout, next);
  renameSync(next, path.join(links, name));
}

async function underLoad(what: string, work: () => Promise<void>): Promise<void> {
  const load = startRotationLoad({ shop, payer, requestsPerSecond: REQUESTS_PER_SECOND });
  try {
    await work();
  } finally {
    await load.stop();
  }
  const missing = await findLost(load);
  const breaks = await settledBreaks();
  const counts = `${load.failures.length} failed, ${missing.length} lost, ${breaks.length} breaks`;
  console.log(`${what}: ${load.calls()} calls, ${counts}`);
  expect({ failures: load.failures, missing, breaks }).toEqual({
    failures: [],
    missing: [],
    breaks: [],
  });
}

/** What has not arrived when the time for it is over. */
async function findLost(load: RotationLoad): Promise<string[]> {
  return await settled(() => load.findMissing());
}

async function settledBreaks(): Promise<string[]> {
  return await settled(findBreaks);
}

async function settled(find: () => Promise<string[]>): Promise<string[]> {
  let found: string[] = [];
  await eventually(async () => {
    found = await find();
    expect(found).toEqual([]);
  }, SETTLED_MS_MAX).catch(() => undefined);
  return found;
}
