import { call } from '@pixmesh/local-stack/http-call';

import { type Child, startChild } from '../child-calls.ts';
import { createMerchant, type Merchant } from '../payouts/merchant.ts';
import { startWebhookReceiver, type Webhooks } from '../webhook-arrivals.ts';
import { type Stack, withStack } from '../with-stack.ts';
import type { AggressorCalls } from './aggressor-process.ts';

const AGGRESSOR = new URL('./aggressor-process.ts', import.meta.url);

/** A running mesh with two merchants on it, of which one disturbs the other. */
export type Arena = {
  stack: Stack;
  victim: Merchant;
  aggressor: Merchant;
  /** A process of its own, so that the driver's event loop measures the victim alone. */
  attack: Child<AggressorCalls>;
  webhooks: Webhooks;
  /** What goes wrong at the acquirer from now on. */
  setFaults(rules: readonly object[]): Promise<void>;
};

/** Boots the mesh of this checkout, or of the one in `folder`, for the time of `work`. */
export async function withArenas(
  folder: string | null,
  work: (openArena: () => Promise<Arena>) => Promise<void>,
): Promise<void> {
  await using receiver = await startWebhookReceiver();
  await using attack = startChild<AggressorCalls>(AGGRESSOR);
  const { webhooks, env } = receiver;
  const place = { home: '.pixmesh-bench-fairness', checkout: folder ?? '.', env };
  await withStack(place, async (stack) => {
    const setFaults = (rules: readonly object[]) =>
      call<void>('PUT', `${stack.simulator_url}/control/faults`, { body: { rules } });
    await work(async () => {
      await setFaults([]);
      const victim = await createMerchant(stack, true);
      const aggressor = await createMerchant(stack, true);
      return { stack, victim, aggressor, attack, webhooks, setFaults };
    });
  });
}
