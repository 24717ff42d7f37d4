import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aModel, runToEnd, type Step, takeStep } from '#test/endpoint-model.ts';

const MINUTE_MS = 60_000;
/** Enough that most runs meet a change of an endpoint with every kind of delivery on its way. */
const STEPS_MIN = 30;
const STEPS_MAX = 60;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterAll(() => database[Symbol.asyncDispose]());

const url = fc.constantFrom(
  'http://shop.receiver.example.com/hook',
  'http://office.receiver.example.com/hook',
);
const endpoint = fc.nat({ max: 2 });
const of = <Kind extends string>(...kinds: Kind[]) => fc.constantFrom(...kinds);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: of('event'),
      url: fc.option(url, { freq: 4 }),
      happened: of('now', 'now', 'long ago'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: of('pause', 'resume'), endpoint, cut: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: of('delete'), endpoint, cut: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: of('move'), endpoint, url }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: of('deactivate', 'reactivate'), cut: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: of('send'),
      outcome: of('succeeded', 'failed', 'failed', 'lost'),
      end: of('release', 'release', 'none', 'return'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: of('wait'),
      ms: fc.constantFrom(MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 180 * MINUTE_MS),
    }),
  },
);
const steps = fc.array(step, { minLength: STEPS_MIN, maxLength: STEPS_MAX, size: 'max' });
const setUp = fc.array(fc.record({ url, secret: fc.option(fc.constant('whsec_endpoint_0001')) }), {
  minLength: 1,
  maxLength: 3,
});

test('however endpoints change while events come and go, each delivery goes where it belongs, at its time', async () => {
  await fc.assert(
    fc.asyncProperty(setUp, steps, async (endpoints, taken) => {
      // Others' lanes would be claimed as well.
      await database.db.query(sql`delete from queue`);
      await database.db.query(
        sql`update lanes set leased = false, claimable_at = 'infinity' where leased or claimable_at < 'infinity'`,
      );
      const model = await aModel(database.db, endpoints);
      for (const each of taken) await takeStep(model, each);
      await expect(runToEnd(model)).resolves.toBeUndefined();
    }),
    { numRuns: scaled(5, 1_000) },
  );
}, 600_000);
