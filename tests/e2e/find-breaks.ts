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
  expectWhole(requested);
  return await eventually(async () => {
    const answer = await admin('GET', '/admin/reconciliation');
    expectWhole(answer);
    expect(answer.body.full_runs).toEqual([]);
    return answer.body;
  }, COMPARED_MS_MAX);
}

/** Every service has given its part: one that did not answer stands in place of its checks. */
function expectWhole({ status, body }: Json): void {
  expect({ status, body }).toMatchObject({ status: 200, body: { checks: expect.any(Array) } });
  const silent = body.checks.filter(({ name }: Json) => SERVICES.has(name));
  expect(silent).toEqual([]);
}

const SERVICES = new Set(['charges', 'payouts', 'ledger']);

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
