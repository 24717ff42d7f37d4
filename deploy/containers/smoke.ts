import { createDemoClient } from '@pixmesh/local-stack/demo/demo-client';
import { followCharge } from '@pixmesh/local-stack/demo/follow-charge';
import { followPayout } from '@pixmesh/local-stack/demo/follow-payout';
import { createTimeline } from '@pixmesh/local-stack/demo/timeline';

import { openComposeStack } from './compose-stack.ts';

/**
 * `node deploy/containers/smoke.ts`, beside a running `docker compose up`: the demo of `npm start` for a new
 * merchant, one charge and one payout. Ends with 1 at the first thing that is not as promised.
 */
const timeline = createTimeline();
try {
  await followDemo();
} catch (error) {
  timeline.note('smoke', `FAILED: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  timeline.print();
}

async function followDemo(): Promise<void> {
  const client = createDemoClient(await openComposeStack());
  timeline.note('operator', 'account, application and key created');
  await followCharge(client, timeline);
  await followPayout(client, timeline);
}
