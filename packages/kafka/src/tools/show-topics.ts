import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { TOPICS } from '@pixmesh/contracts/topics';

import type { BrokerAccess } from '../broker-access.ts';
import { readGroupLags, readTopicStates } from '../topic-states.ts';
import { textTable } from './text-table.ts';

const HOUR_MS = 3_600_000;

/**
 * Every topic of the installation with what it holds. A subject of the registry is the topic without the prefix, a
 * hyphen and the message type.
 */
export async function showTopics(broker: BrokerAccess, topicPrefix: string): Promise<string> {
  const names = Object.values(TOPICS).map((topic) => topicPrefix + topic);
  const states = await readTopicStates(broker, names);
  return textTable(
    ['TOPIC', 'PARTITIONS', 'MESSAGES', 'RETENTION', 'SCHEMA SUBJECTS'],
    states.map(({ topic, partitions, messages, retentionMs }) => {
      const types = MESSAGE_TYPES.filter((message) => topicPrefix + message.topic === topic);
      const retention = retentionMs === null ? '-' : `${retentionMs / HOUR_MS} h`;
      const [only] = types;
      const subjects = types.length === 1 && only ? only.type : `<type>, ${types.length} types`;
      const subject = `${topic.slice(topicPrefix.length)}-${subjects}`;
      return [topic, partitions, messages, retention, subject];
    }),
  );
}

/**
 * Every consumer group of the installation, and the partitions of which it has something to handle. A broker may have
 * groups of others.
 */
export async function showLags(broker: BrokerAccess, topicPrefix: string): Promise<string> {
  const ours = new Set(Object.values(CONSUMER_GROUPS).map(({ groupId }) => topicPrefix + groupId));
  const lags = await readGroupLags(broker, (group) => ours.has(group));
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
