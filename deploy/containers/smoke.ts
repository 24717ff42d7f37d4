import { createDemoClient } from '@pixmesh/local-stack/demo/demo-client';
import { followCharge } from '@pixmesh/local-stack/demo/follow-charge';
import { followPayout } from '@pixmesh/local-stack/demo/follow-payout';
import { createTimeline } from '@pixmesh/local-stack/demo/timeline';
import { createDemoAccount } from '@pixmesh/local-stack/mesh/seed-demo-account';

import { composeOrigin, composeSecret } from './compose-project.ts';

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
  const merchant = await createDemoAccount({
    admin_url: await composeOrigin('gateway', 8081),
    admin_token: await composeSecret('gateway', 'ADMIN_BOOTSTRAP_TOKEN'),
  });
  timeline.note('operator', 'account, application and key created');
  const client = createDemoClient({
    gateway_url: await composeOrigin('gateway', 8080),
    simulator_url: await composeOrigin('acquirer-simulator', 8080),
    receiver_url: await composeOrigin('acquirer-simulator', 8090),
    api_key: merchant.apiKey,
  });
  await followCharge(client, timeline);
  await followPayout(client, timeline);
}
