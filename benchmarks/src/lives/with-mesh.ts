import { createMerchant } from '../payouts/merchant.ts';
import { startWebhookReceiver } from '../webhook-arrivals.ts';
import { type Stack, withStack } from '../with-stack.ts';
import type { LifeDeps } from './life-kinds.ts';
import { openMesh } from './mesh-calls.ts';
import { withStatements } from './statement-times.ts';

/**
 * Boots the mesh of a checkout (null: of this one) with a merchant that pays and one that is paid, for the time of
 * `work`.
 */
export async function withMesh(
  checkout: string | null,
  options: { statements: boolean; env?: NodeJS.ProcessEnv },
  work: (stack: Stack, deps: LifeDeps) => Promise<void>,
): Promise<void> {
  await using receiver = await startWebhookReceiver();
  const home = checkout === null ? '.pixmesh-bench-lives' : '.pixmesh-bench-lives-before';
  const env = { ...receiver.env, ...options.env };
  const place = { home, checkout: checkout ?? '.', env };
  if (options.statements) await withStatements(place);
  await withStack(place, async (stack) => {
    await using mesh = openMesh(stack, receiver.webhooks);
    const shop = await createMerchant(stack, false);
    const payer = await createMerchant(stack, true);
    await work(stack, { mesh, shop, payer });
  });
}
