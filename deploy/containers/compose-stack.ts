import { createDemoAccount } from '@pixmesh/local-stack/mesh/seed-demo-account';

import { composeOrigin, composeSecret } from './compose-project.ts';

/** Where a running compose project is reached, in the words of `stack.json`, with a new merchant. */
export async function openComposeStack() {
  const admin = {
    admin_url: await composeOrigin('gateway', 8081),
    admin_token: await composeSecret('gateway', 'ADMIN_BOOTSTRAP_TOKEN'),
  };
  const merchant = await createDemoAccount(admin);
  return {
    ...admin,
    gateway_url: await composeOrigin('gateway', 8080),
    simulator_url: await composeOrigin('acquirer-simulator', 8080),
    receiver_url: await composeOrigin('acquirer-simulator', 8090),
    api_key: merchant.apiKey,
  };
}
