import { AppError } from '@pixmesh/kernel/app-error';
import { eventually } from '@pixmesh/testkit/eventually';
import { beforeEach, describe, expect, test } from 'vitest';

import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

/** Messages that do not wait for each other: begun in order, in hand together, counted in order. */
const concurrency = { max: 250 };
const NUMBERS = Array.from({ length: 20 }, (_, index) => index + 1);

let mesh: TestMesh;
let begun: number[];
let handled: number[];

beforeEach(async () => {
  mesh = await startTestMesh();
  begun = [];
  handled = [];
  return () => mesh[Symbol.asyncDispose]();
});

/** Handlers that wait until all of them have been called. */
function together(count: number) {
  const all = Promise.withResolvers<void>();
  return async (number: number): Promise<void> => {
    begun.push(number);
    if (begun.length === count) all.resolve();
    await all.promise;
    handled.push(number);
  };
}

describe('a batch of independent messages', () => {
  test('is in hand together, begun in the order of its messages', async () => {
    await mesh.sendNumbered(...NUMBERS);
    mesh.consume(together(NUMBERS.length), { concurrency });
    await eventually(() => expect(handled).toHaveLength(NUMBERS.length));
    expect(begun).toEqual(NUMBERS);
  });

  test('keeps that order when the first message takes longer to decode', async () => {
    await mesh.sendNumbered(...NUMBERS);
    let decoded = 0;
    const decode: typeof mesh.codec.decode = async (value) => {
      decoded += 1;
      if (decoded === 1)
        await eventually(() => expect(performance.now() - startedMs).toBeGreaterThan(200));
      return await mesh.codec.decode(value);
    };
    const startedMs = performance.now();
    mesh.consume(together(NUMBERS.length), { concurrency, codec: { decode } });
    await eventually(() => expect(handled).toHaveLength(NUMBERS.length));
    expect(begun).toEqual(NUMBERS);
  });

  test('has no more messages in hand than its limit', async () => {
    await mesh.sendNumbered(...NUMBERS);
    let inHand = 0;
    let most = 0;
    const handle = async (number: number): Promise<void> => {
      inHand += 1;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setImmediate(resolve));
      inHand -= 1;
      handled.push(number);
    };
    mesh.consume(handle, { concurrency: { max: 4 } });
    await eventually(() => expect(handled).toHaveLength(NUMBERS.length));
    expect(most).toBe(4);
  });

  test('parks what is wrong in itself; the others are handled', async () => {
    await mesh.sendNumbered(1, 2);
    await mesh.sendRaw([{ value: null, partition: 0 }]);
    await mesh.sendNumbered(3, 4);
    const handle = async (number: number): Promise<void> => {
      if (number === 2) throw new AppError('MESSAGE_INVALID', { message: 'other content' });
      handled.push(number);
    };
    const { parked } = mesh.consume(handle, { concurrency });
    await eventually(() => expect(handled).toEqual([1, 3, 4]));
    await eventually(() => expect(parked).toHaveLength(2));
    const offsets = parked.map(({ offset }) => Number(offset)).toSorted((one, two) => one - two);
    expect(offsets).toEqual([1, 2]);
  });
});

describe('while a dependency is away', () => {
  test('everything from the first unresolved message on comes again, and nothing is parked', async () => {
    let failures = 2;
    const handle = async (number: number): Promise<void> => {
      begun.push(number);
      if (number === 3 && failures > 0) {
        failures -= 1;
        throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'database away' });
      }
      handled.push(number);
    };
    await mesh.sendNumbered(1, 2, 3, 4, 5);
    const { parked } = mesh.consume(handle, { concurrency });
    await eventually(() => expect(handled.filter((number) => number === 3)).toHaveLength(1));
    await eventually(() => expect(handled.at(-1)).toBe(5));
    expect(parked).toEqual([]);
    expect(handled.filter((number) => number <= 2)).toEqual([1, 2]);
    expect(begun.filter((number) => number === 3)).toHaveLength(3);
    expect(begun.slice(-3)).toEqual([3, 4, 5]);
  });

  test('nothing begins behind a message that has to come again', async () => {
    const failed = Promise.withResolvers<void>();
    let isAway = true;
    const handle = async (number: number): Promise<void> => {
      begun.push(number);
      if (number === 1) await failed.promise;
      if (number === 2 && isAway) {
        isAway = false;
        setImmediate(() => failed.resolve());
        throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'database away' });
      }
      handled.push(number);
    };
    await mesh.sendNumbered(1, 2, 3, 4);
    mesh.consume(handle, { concurrency: { max: 2 } });
    await eventually(() => expect(handled.at(-1)).toBe(4));
    expect(begun).toEqual([1, 2, 2, 3, 4]);
  });

  test('a message whose schema cannot be looked up is not overtaken', async () => {
    let decoded = 0;
    const decode: typeof mesh.codec.decode = async (value) => {
      decoded += 1;
      if (decoded === 2) throw Object.assign(new Error('away'), { name: 'ResponseError' });
      return await mesh.codec.decode(value);
    };
    await mesh.sendNumbered(1, 2, 3, 4);
    const handle = async (number: number): Promise<void> => void handled.push(number);
    const { parked } = mesh.consume(handle, { concurrency, codec: { decode } });
    await eventually(() => expect(handled.at(-1)).toBe(4));
    expect(handled).toEqual([1, 2, 3, 4]);
    expect(parked).toEqual([]);
  });

  test('a stop in the meantime loses nothing: another member gets the rest', async () => {
    const handle = async (number: number): Promise<void> => {
      if (number >= 3) throw new AppError('DEPENDENCY_UNAVAILABLE');
      handled.push(number);
    };
    await mesh.sendNumbered(1, 2, 3, 4);
    const first = mesh.consume(handle, { concurrency });
    await eventually(() => expect(handled).toEqual([1, 2]));
    await first.consumer.stop();
    const later: number[] = [];
    const { groupId } = first;
    mesh.consume(async (number) => void later.push(number), { groupId, concurrency });
    await eventually(() => expect(later).toEqual([3, 4]));
  });
});

describe('a stop', () => {
  test('finishes what is in hand and counts it', async () => {
    await mesh.sendNumbered(...NUMBERS);
    const gate = Promise.withResolvers<void>();
    const first = mesh.consume(
      async (number) => {
        begun.push(number);
        await gate.promise;
        handled.push(number);
      },
      { concurrency },
    );
    await eventually(() => expect(begun).toHaveLength(NUMBERS.length));
    const stopped = first.consumer.stop();
    gate.resolve();
    await stopped;
    expect(handled).toEqual(NUMBERS);
    const again: number[] = [];
    const { groupId } = first;
    mesh.consume(async (number) => void again.push(number), { groupId, concurrency });
    await mesh.sendNumbered(99);
    await eventually(() => expect(again).toEqual([99]));
  });
});
