import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { completeRecoveries, findOpenRecoveries } from './recoveries.sql.ts';
import type { RecoveryRow } from './recovery-row.ts';
import {
  stepRecovery,
  type StepDeps,
  type Stepped,
  StepUndone,
  WAITING_MAX,
} from './step-recovery.ts';

/** Between the steps of recoveries that send, of one that searches for what to send, and while there are none. */
const STEP_INTERVAL_MS = 100;
const SEARCH_INTERVAL_MS = 10;
const IDLE_INTERVAL_MS = 1_000;
/** Recoveries of which a step is made in one turn. */
const STEPS_MAX = 20;

/**
 * Carries recoveries on, in every sender: a step of each in turn, one process at a time. All state is in the table, so
 * any process goes on where another one ended. Never throws; a failed step is made again.
 */
export function startRecoveries(deps: StepDeps & { logger: Logger }): PollingLoop {
  return startPollingLoop({ name: 'recoveries', logger: deps.logger, turn });

  async function turn({ stopping }: TurnContext): Promise<NextTurn> {
    const open = await findOpenRecoveries(deps.db, { limit: STEPS_MAX, waitingMax: WAITING_MAX });
    if (open.length === 0) return { pauseMs: IDLE_INTERVAL_MS };
    await completeRecoveries(deps.db);
    const steps: Stepped[] = [];
    for (const recovery of open.filter(({ status }) => status === 'running')) {
      if (!stopping.aborted) steps.push(await step(recovery));
    }
    return { pauseMs: steps.includes('busy') ? SEARCH_INTERVAL_MS : STEP_INTERVAL_MS };
  }

  async function step(recovery: RecoveryRow): Promise<Stepped> {
    try {
      return await stepRecovery(deps, recovery);
    } catch (error) {
      if (!(error instanceof StepUndone)) throw error;
      return 'waiting';
    }
  }
}
