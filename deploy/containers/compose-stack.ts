import { createDemoAccount } from '../compose/demo-account.ts';
import { composeOrigin, composeSecret } from './compose-project.ts';

/** Where a running compose project is reached, in the words of `stack.json`, with a new merchant. */
export async function openComposeStack() {
  const url = await composeOrigin('gateway', 8081);
  const token = await composeSecret('gateway', 'ADMIN_BOOTSTRAP_TOKEN');
  return {
    admin_url: url,
    admin_token: token,
    gateway_url: await composeOrigin('gateway', 8080),
    simulator_url: await composeOrigin('acquirer-simulator', 8080),
    receiver_url: await composeOrigin('acquirer-simulator', 8090),
    api_key: await createDemoAccount({ url, token }),
  };
}
