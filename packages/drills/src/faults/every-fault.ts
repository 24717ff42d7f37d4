import type { Drill } from '../drill.ts';
import { acquirerAway } from './acquirer-away.ts';
import { archiveFailing } from './archive-failing.ts';
import { balanceGone } from './balance-gone.ts';
import { balanceChanged } from './balance-changed.ts';
import { brokerLoss } from './broker-loss.ts';
import { callbacksRefused } from './callbacks-refused.ts';
import { certificateExpiring } from './certificate-expiring.ts';
import { diskFull } from './disk-full.ts';
import { dispatcherBacklog } from './dispatcher-backlog.ts';
import { eventLoopBlocked } from './event-loop-blocked.ts';
import { lanesHeld } from './lanes-held.ts';
import { outboxStuck } from './outbox-stuck.ts';
import { poisonMessage } from './poison-message.ts';
import { poolWaiting } from './pool-waiting.ts';
import { postgresFailover } from './postgres-failover.ts';
import { postgresFrozen } from './postgres-frozen.ts';
import { postgresRestart } from './postgres-restart.ts';
import { redisFlush } from './redis-flush.ts';
import { redisFrozen } from './redis-frozen.ts';
import { sendsHeld } from './sends-held.ts';
import { serviceFrozen } from './service-frozen.ts';

export const FAULTS: readonly Drill[] = [
  brokerLoss,
  postgresRestart,
  postgresFailover,
  postgresFrozen,
  poolWaiting,
  diskFull,
  archiveFailing,
  redisFlush,
  redisFrozen,
  serviceFrozen,
  eventLoopBlocked,
  dispatcherBacklog,
  lanesHeld,
  outboxStuck,
  poisonMessage,
  acquirerAway,
  sendsHeld,
  balanceGone,
  callbacksRefused,
  certificateExpiring,
  balanceChanged,
];
