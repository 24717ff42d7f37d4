import { expect, test } from 'vitest';

import { brokerClass, dropEmptyPartitions } from './filled-partitions.ts';

dropEmptyPartitions();

const SEND = Object.getOwnPropertySymbols(brokerClass().prototype).find(
  ({ description }) => description === 'private:Broker:sendRequest',
)!;
const EMPTY = { messages: [], preferredReadReplica: -1 };

/** The library's broker, whose connection answers every request with the same. */
function brokerThatAnswers(answer: object) {
  const { prototype } = brokerClass();
  return Object.assign(Object.create(prototype) as typeof prototype, {
    lookupRequest: () => () => ({}),
    [SEND]: async () => answer,
  });
}

test('a fetch answers the partitions that hold something, and those that name another replica', async () => {
  const filled = { partition: 3, messages: ['a message'], preferredReadReplica: -1 };
  const moved = { partition: 4, messages: [], preferredReadReplica: 2 };
  const broker = brokerThatAnswers({
    throttleTime: 0,
    responses: [
      { topicName: 'one', partitions: [{ ...EMPTY, partition: 0 }, filled, moved] },
      { topicName: 'other', partitions: [{ ...EMPTY, partition: 0 }] },
    ],
  });
  expect(await broker.fetch({ topics: [] })).toEqual({
    throttleTime: 0,
    responses: [
      { topicName: 'one', partitions: [filled, moved] },
      { topicName: 'other', partitions: [] },
    ],
  });
});

test('a broker that names no replicas answers what it holds', async () => {
  const filled = { partition: 1, messages: ['a message'] };
  const partitions = [{ partition: 0, messages: [] }, filled];
  const broker = brokerThatAnswers({ responses: [{ topicName: 'one', partitions }] });
  const { responses } = await broker.fetch({ topics: [] });
  expect(responses).toEqual([{ topicName: 'one', partitions: [filled] }]);
});
