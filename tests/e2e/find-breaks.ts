import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { expect } from 'vitest';

import { admin, homeOf, type Json } from './mesh.ts';

/** Every difference is found, explained and gone within this of the last change. */
const SETTLED_MS_MAX = scaled(90_000, 600_000);
/** For a run of reconciliation over all that the tests have made. */
const COMPARED_MS_MAX = scaled(60_000, 300_000);

/** What a full comparison finds now, as `check kind id`. */
export async function findBreaks(): Promise<string[]> {
  const { checks } = await compareAll();
  return checks.flatMap((check: Json) =>
    check.breaks.map((one: Json) => `${check.name} ${one.kind} ${one.id}`),
  );
}

/** The report of a full comparison that began after the call: it is stored by every service, and read when it has ended. */
async function compareAll(): Promise<Json> {
  const requested = await admin('POST', '/admin/reconciliation', { full: true });
  expect([requested.status, isWhole(requested.body)]).toEqual([200, true]);
  return await eventually(async () => {
    const { body } = await admin('GET', '/admin/reconciliation');
    expect([isWhole(body), body.full_runs]).toEqual([true, []]);
    return body;
  }, COMPARED_MS_MAX);
}

/** Whether every service has given its part. */
function isWhole({ checks }: Json): boolean {
  return !checks.some(({ name }: Json) => ['charges', 'payouts', 'ledger'].includes(name));
}

/** Resources whose differences tests leave behind on purpose, one a line: every file of the ring adds to it. */
const LEFT_FILE = 'left-breaks.txt';
/** As every file of a home. */
const OWNER_ONLY = 0o600;

/** This resource will differ from now on, as a test wants it. */
export function leaveBreak(id: string): void {
  appendFileSync(path.join(homeOf(), LEFT_FILE), `${id}\n`, { mode: OWNER_ONLY });
}

/** What a full comparison finds now, but for what tests have left on purpose. */
export async function findUnexplainedBreaks(): Promise<string[]> {
  const file = path.join(homeOf(), LEFT_FILE);
  const left = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return (await findBreaks()).filter((one) => !left.some((id) => one.endsWith(` ${id}`)));
}

/** Waits until reconciliation finds nothing that no test has left on purpose. */
export async function expectNoBreaks(): Promise<void> {
  await eventually(async () => {
    expect(await findUnexplainedBreaks()).toEqual([]);
  }, SETTLED_MS_MAX);
}
