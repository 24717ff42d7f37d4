import type { Drill } from '../drill.ts';
import { acquirerAway } from './acquirer-away.ts';
import { brokerLoss } from './broker-loss.ts';
import { diskFull } from './disk-full.ts';
import { dispatcherBacklog } from './dispatcher-backlog.ts';
import { outboxStuck } from './outbox-stuck.ts';
import { poisonMessage } from './poison-message.ts';
import { postgresFailover } from './postgres-failover.ts';
import { postgresRestart } from './postgres-restart.ts';
import { redisFlush } from './redis-flush.ts';

export const FAULTS: readonly Drill[] = [
  brokerLoss,
  postgresRestart,
  postgresFailover,
  redisFlush,
  dispatcherBacklog,
  outboxStuck,
  acquirerAway,
  poisonMessage,
  diskFull,
];
