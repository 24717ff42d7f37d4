import type { AccountBreak } from '@pixmesh/contracts/internal/account-breaks';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';

import { stopAtBreaks } from './stop-at-breaks.ts';
import type { StopsDeps } from './stop-payouts.ts';

/** A break is confirmed minutes after its cause; this adds next to nothing, and an answer costs one short query. */
const WATCH_INTERVAL_MS = 5_000;

/** The breaks of each service that name an account, by the service's name. */
export type BreakSources = Readonly<Record<string, () => Promise<AccountBreak[]>>>;

/**
 * Stops payouts where reconciliation has found that the books disagree, for as long as the process lives. A service
 * that does not answer keeps no other one from being read; it is asked again.
 */
export function startBreakWatch(
  deps: Pick<StopsDeps, 'db' | 'logger'> & { sources: BreakSources },
): PollingLoop {
  return startPollingLoop({
    name: 'watch breaks',
    logger: deps.logger,
    retry: { firstMs: WATCH_INTERVAL_MS, maxMs: WATCH_INTERVAL_MS },
    turn: async () => {
      const reads = Object.entries(deps.sources).map(async ([service, read]) =>
        (await read()).map((item) => ({ ...item, service })),
      );
      const answers = await Promise.allSettled(reads);
      await stopAtBreaks(
        deps,
        answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
      );
      await Promise.all(reads);
      return { pauseMs: WATCH_INTERVAL_MS };
    },
  });
}
