import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { findUnexplainedBreaks } from '../find-breaks.ts';
import { findViolations } from '../find-violations.ts';
import { type ClientHistory, createClientHistory } from '../client-history.ts';
import { armFailpoint, availableOf, stack, v1, waitForRestart } from '../mesh.ts';
import { aPayingMerchant, COST_CENTS, waitForPayout } from '../payout-calls.ts';

const REST_MS_MAX = 60_000;
/** Deaths of each kind in a usual run; the seed of the run chooses. */
const SAMPLED = 1;

/** Deaths in the middle of a creation: the client has no answer. */
const CREATION_DEATHS = [
  ['payouts', 'payouts.create.after-intent'],
  // Before the next one: the job that finishes what was held passes this point too, and would die in its place.
  ['payouts', 'payouts.create.after-commit'],
  ['payouts', 'payouts.create.after-hold'],
  ['ledger', 'ledger.hold.after-commit'],
] as const;

/** Deaths while it is sent and ended: the client has its 201. */
const SENDING_DEATHS = [
  'payouts.submit.before-call',
  'payouts.submit.in-call',
  'payouts.submit.after-answer',
  'payouts.settle.after-commit',
] as const;

/** Where the creation or the sending of each payout was cut off. */
const points = new Map<string, string>();

test('a death anywhere in a creation, and the same key makes the one payout that there is', async () => {
  const history = createClientHistory();
  const deaths = sampled(CREATION_DEATHS, SAMPLED);
  const merchant = await aPayingMerchant(deaths.length * COST_CENTS);
  const ids = new Map<string, string>();
  for (const [service, point] of deaths) {
    const key = randomUUID();
    const first = await diesAt(service, point, () => history.createPayout(merchant, {}, key));
    // The caller may have asked again by itself: then there is an answer, and it is the right one.
    if (first.outcome === 'unknown') await history.createPayoutStubbornly(merchant, {}, key);
    ids.set(point, first.id);
  }
  for (const id of ids.values()) await waitForPayout(merchant, id, 'completed', REST_MS_MAX);
  await expectSound(history, ids);
  expect(await availableOf(merchant)).toBe(0);
});

test('a death anywhere in a creation that nobody repeats: finished or undone, nothing held for nothing', async () => {
  const history = createClientHistory();
  const deaths = sampled(CREATION_DEATHS, SAMPLED);
  const merchant = await aPayingMerchant(deaths.length * COST_CENTS);
  const ids = new Map<string, string>();
  for (const [service, point] of deaths) {
    const only = await diesAt(service, point, () => history.createPayout(merchant));
    ids.set(point, only.id);
  }
  await expectSound(history, ids);
  // Whose hold was never taken has left nothing; whose commit was made is a payout like any other.
  const undone = ids.get('payouts.create.after-intent');
  if (undone) expect((await v1(merchant, `GET /payouts/${undone}`)).status).toBe(404);
  const committed = ids.get('payouts.create.after-commit');
  if (committed) await waitForPayout(merchant, committed, 'completed');
});

test('a death anywhere between the 201 and its end sends once and settles once', async () => {
  const history = createClientHistory();
  const deaths = sampled(SENDING_DEATHS, SAMPLED);
  const merchant = await aPayingMerchant(deaths.length * COST_CENTS);
  const ids = new Map<string, string>();
  for (const point of deaths) {
    const key = randomUUID();
    const first = await diesAt('payouts', point, () => history.createPayout(merchant, {}, key));
    // It may be sent, and die, before the answer is on its way.
    if (first.outcome === 'unknown') await history.createPayoutStubbornly(merchant, {}, key);
    ids.set(point, first.id);
  }
  for (const id of ids.values()) await waitForPayout(merchant, id, 'completed', REST_MS_MAX);
  await expectSound(history, ids);
  expect(await availableOf(merchant)).toBe(0);
});

test('after all of these deaths no break is left', async () => {
  await eventually(async () => {
    expect((await findUnexplainedBreaks()).map(named)).toEqual([]);
  }, REST_MS_MAX);
});

/** Arms the failpoint, acts, and waits until the service has died and come back. */
async function diesAt<T>(service: string, point: string, act: () => Promise<T>): Promise<T> {
  const pid = stack().pids[service];
  await armFailpoint(service, point);
  const done = await act();
  await waitForRestart(service, pid);
  return done;
}

/** Nothing is violated once it has come to rest. */
async function expectSound(
  history: ClientHistory,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [point, id] of ids) points.set(id, point);
  await eventually(async () => {
    expect((await findViolations(history)).map(named)).toEqual([]);
  }, REST_MS_MAX);
}

/** With the place of the death behind the id of each payout. */
function named(line: string): string {
  return [...points].reduce((text, [id, point]) => text.replaceAll(id, `${id} (${point})`), line);
}
