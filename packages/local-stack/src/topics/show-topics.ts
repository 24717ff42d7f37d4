import { TOOLS_GROUP_PREFIX } from '@pixmesh/contracts/internal/broker-rights';
import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { TOPICS } from '@pixmesh/contracts/topics';
import type { BrokerAccess } from '@pixmesh/kafka/broker-access';
import { readGroupLags, readTopicStates } from '@pixmesh/kafka/topic-states';
import { textTable } from './text-table.ts';

const HOUR_MS = 3_600_000;

/** Every topic with what it holds; a subject of the registry is the topic, a hyphen and the message type. */
export async function showTopics(broker: BrokerAccess): Promise<string> {
  const states = await readTopicStates(broker, Object.values(TOPICS));
  return textTable(
    ['TOPIC', 'PARTITIONS', 'MESSAGES', 'RETENTION', 'SCHEMA SUBJECTS'],
    states.map(({ topic, partitions, messages, retentionMs }) => {
      const types = MESSAGE_TYPES.filter((message) => message.topic === topic);
      const retention = retentionMs === null ? '-' : `${retentionMs / HOUR_MS} h`;
      const [only] = types;
      const subjects =
        types.length === 1 && only
          ? `${topic}-${only.type}`
          : `${topic}-<type>, ${types.length} types`;
      return [topic, partitions, messages, retention, subjects];
    }),
  );
}

/** Every consumer group, and below it the partitions of which it has something to handle. */
export async function showLags(broker: BrokerAccess): Promise<string> {
  const lags = await readGroupLags(broker, (group) => !group.includes(TOOLS_GROUP_PREFIX));
  const rows = lags
    .filter(({ committed, end }) => committed !== null || end > 0n)
    .map(({ group, state, members, topic, partition, committed, end, lag }) => {
      const offsets = [committed ?? '-', end, lag];
      return [group, state, members, topic, partition, ...offsets];
    });
  const head = ['GROUP', 'STATE', 'MEMBERS', 'TOPIC', 'PARTITION', 'COMMITTED', 'END', 'LAG'];
  const total = lags.reduce((sum, { lag }) => sum + lag, 0n);
  return `${textTable(head, rows)}\n${total} messages to handle in all`;
}
