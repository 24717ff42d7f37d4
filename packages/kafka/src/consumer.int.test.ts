import { AppError } from '@pixmesh/kernel/app-error';
import { eventually } from '@pixmesh/testkit/eventually';
import { beforeEach, describe, expect, test } from 'vitest';

import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

const away = () => new AppError('DEPENDENCY_UNAVAILABLE', { message: 'database away' });
const UNKNOWN_REGISTRY_ID = Buffer.concat([
  Buffer.from([0, 0x7f, 0xff, 0xff, 0xf0]),
  Buffer.from('{}'),
]);

let mesh: TestMesh;
let handled: number[];

beforeEach(async () => {
  mesh = await startTestMesh();
  handled = [];
  return () => mesh[Symbol.asyncDispose]();
});

/** Stands for the words of an error that quotes what was wrong. */
const HIDDEN = '(quotes its input)';

function refusedByPostgres(input: string): Error {
  const message = `invalid input syntax for type bigint: ${input}`;
  return Object.assign(new Error(message), { code: '22P02' });
}

describe('a message that is wrong in itself is parked with its cause, and the partition moves on', () => {
  const good = async () => await mesh.codec.encode(TEST_MESSAGE, aWireMessage(1));
  const poison: [string, { code: string; reason: RegExp }, () => Promise<object>][] = [
    ['garbage', invalid(/undecodable/), async () => ({ value: Buffer.from('garbage \0 timeout') })],
    ['an empty value', invalid(/empty value/), async () => ({ value: null })],
    ['a stump of a frame', invalid(/undecodable/), async () => ({ value: Buffer.from([0, 0, 0]) })],
    [
      'an unknown registry id',
      invalid(/undecodable/),
      async () => ({ value: UNKNOWN_REGISTRY_ID }),
    ],
    [
      'broken JSON behind a known id',
      invalid(/undecodable/),
      async () => ({
        value: Buffer.concat([(await good()).subarray(0, 5), Buffer.from('{"ECONNRESET')]),
      }),
    ],
    [
      'a value that its schema refuses',
      invalid(new RegExp(`^${TEST_MESSAGE.type}: .*data invalid_type`)),
      async () => ({
        value: Buffer.concat([(await good()).subarray(0, 5), Buffer.from('{"a":1}')]),
      }),
    ],
    [
      'an unknown type',
      invalid(/unknown type/),
      async () => ({ value: await good(), type: 'no.such' }),
    ],
  ];

  test('whatever is wrong', async () => {
    const { parked, consumer } = mesh.consume(async (number) => void handled.push(number));
    for (const [, , message] of poison)
      await mesh.sendRaw([{ partition: 0, value: null, ...(await message()) }]);
    await mesh.sendNumbered(7);
    await eventually(() => expect(handled).toEqual([7]));
    expect(parked).toHaveLength(poison.length);
    for (const [index, [, { code, reason }]] of poison.entries()) {
      expect(parked[index]).toMatchObject({ code, offset: BigInt(index), partition: 0 });
      expect(parked[index]?.reason).toMatch(reason);
    }
    expect(consumer.isAlive()).toBe(true);
  });

  test.each<[string, () => Error, number, string, string?]>([
    ['TypeError', () => new TypeError('of undefined'), 3, 'INTERNAL_ERROR'],
    ['assertion', () => new Error('broken invariant'), 3, 'INTERNAL_ERROR'],
    [
      'refusal',
      () => new AppError('MESSAGE_INVALID', { message: 'other content' }),
      1,
      'MESSAGE_INVALID',
    ],
    [
      'unexpected failure',
      () => new AppError('INTERNAL_ERROR', { message: 'bug' }),
      3,
      'INTERNAL_ERROR',
    ],
    ['SyntaxError', () => new SyntaxError('"52998224725"'), 3, 'INTERNAL_ERROR', HIDDEN],
    ['refused data', () => refusedByPostgres('"52998224725"'), 3, 'INTERNAL_ERROR', HIDDEN],
  ])('a handler that throws: %s', async (_name, error, tries, code, reason = error().message) => {
    let failed = 0;
    const { parked } = mesh.consume(async (number) => {
      if (number === 2) {
        failed += 1;
        throw error();
      }
      handled.push(number);
    });
    await mesh.sendNumbered(1, 2, 3);
    await eventually(() => expect(handled).toEqual([1, 3]));
    expect(parked).toMatchObject([{ code, reason }]);
    expect(failed).toBe(tries);
  });
});

describe('while a dependency is away', () => {
  test('nothing is parked, nothing overtakes, and the partition goes on where it stopped', async () => {
    let failures = 3;
    const { parked } = mesh.consume(async (number) => {
      if (number === 2 && failures > 0) {
        failures -= 1;
        throw away();
      }
      handled.push(number);
    });
    await mesh.sendNumbered(1, 2, 3, 4);
    await eventually(() => expect(handled).toEqual([1, 2, 3, 4]));
    expect(failures).toBe(0);
    expect(parked).toEqual([]);
  });

  test('other partitions go on', async () => {
    const { parked } = mesh.consume(async (number) => {
      if (number === 1) throw away();
      handled.push(number);
    });
    await mesh.sendNumbered(1);
    const value = await mesh.codec.encode(TEST_MESSAGE, aWireMessage(2));
    await mesh.sendRaw([{ value, partition: 1 }]);
    await eventually(() => expect(handled).toEqual([2]));
    expect(parked).toEqual([]);
  });

  test('a message that cannot be parked waits too', async () => {
    let failures = 2;
    const reasons: string[] = [];
    mesh.consume(async (number) => void handled.push(number), {
      park: async ({ reason }) => {
        failures -= 1;
        if (failures >= 0) throw new Error('no dead letters either');
        reasons.push(reason);
      },
    });
    await mesh.sendRaw([{ value: null, partition: 0 }]);
    await mesh.sendNumbered(1);
    await eventually(() => expect(handled).toEqual([1]));
    expect(reasons).toEqual(['empty value']);
  });
});

/** Less than a session of the group and than the limit of a stop; a fetch under way takes 500 ms of it. */
const STOP_MS_MAX = 4_500;

describe('a stop', () => {
  test('takes no time limit of the group and commits what was handled', async () => {
    const first = mesh.consume(async (number) => void handled.push(number));
    await mesh.sendNumbered(1, 2);
    await eventually(() => expect(handled).toEqual([1, 2]));
    const startedMs = performance.now();
    await first.consumer.stop();
    expect(performance.now() - startedMs).toBeLessThan(STOP_MS_MAX);

    mesh.consume(async (number) => void handled.push(number), { groupId: first.groupId });
    await mesh.sendNumbered(3);
    await eventually(() => expect(handled).toEqual([1, 2, 3]));
  });

  test('finishes the message in hand, and leaves the rest of the batch to the next member', async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const first = mesh.consume(async (number) => {
      begun.resolve();
      await goOn.promise;
      handled.push(number);
    });
    await mesh.sendNumbered(1, 2, 3);
    await begun.promise;
    const stopped = first.consumer.stop();
    goOn.resolve();
    await stopped;
    expect(handled).toEqual([1]);
    mesh.consume(async (number) => void handled.push(number), { groupId: first.groupId });
    await eventually(() => expect(handled).toEqual([1, 2, 3]));
  });

  test('does not wait for a broker that is away', async () => {
    const { consumer } = mesh.consume(async () => undefined, { brokers: ['127.0.0.1:1'] });
    const startedMs = performance.now();
    await consumer.stop();
    expect(performance.now() - startedMs).toBeLessThan(STOP_MS_MAX);
  });
});

test('members come and go: everything is handled, in order of first occurrence', async () => {
  const groupId = 'rebalanced';
  const record = async (number: number) => void handled.push(number);
  const first = mesh.consume(record, { groupId });
  const numbers = Array.from({ length: 300 }, (_, index) => index);
  await mesh.sendNumbered(...numbers.slice(0, 100));
  mesh.consume(record, { groupId });
  await mesh.sendNumbered(...numbers.slice(100, 200));
  await eventually(() => expect(handled.length).toBeGreaterThan(0));
  await first.consumer.stop();
  await mesh.sendNumbered(...numbers.slice(200));
  await eventually(() => expect([...new Set(handled)]).toEqual(numbers), 20_000);
});

function invalid(reason: RegExp) {
  return { code: 'MESSAGE_INVALID', reason };
}
