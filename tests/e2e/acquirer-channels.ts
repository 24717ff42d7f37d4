import { expect } from 'vitest';

import { admin, type Answer, call, type Json, secretsOfHome, simulator, stack } from './mesh.ts';

/** What announces received money to the mesh: every callback, and every read of a charge or a list. */
export type Channel = 'callback' | 'getCharge' | 'getReceived' | 'listReceived' | 'listDisputes';

/** Rules that close channels until the script is replaced or cleared. */
export function closed(channels: readonly Channel[]): object[] {
  return channels.map((operation) =>
    operation === 'callback'
      ? { operation, fault: 'drop' }
      : { operation, fault: 'error_before', status: 503 },
  );
}

/** More than a test will ever use up. */
const COUNTED_MAX = 1_000_000_000;

/** Rules without an effect that count the calls of operations, and the notices under `callback`. */
export function counted(operations: readonly string[]): object[] {
  return operations.map((operation) => ({
    operation,
    fault: operation === 'callback' ? 'delay' : 'latency',
    delay_ms: 0,
    count: COUNTED_MAX,
  }));
}

/** What `counted` rules have counted since they were set. */
export async function readCounts(): Promise<Record<string, number>> {
  const { body } = await call(`${stack().simulator_url}/control/faults`);
  const rules: Json[] = body.rules.filter((rule: Json) => rule.count !== undefined);
  return Object.fromEntries(rules.map((rule) => [rule.operation, COUNTED_MAX - rule.count]));
}

/** Where the acquirer calls back, with the right secret or another. */
export function callbackUrl(secret: string = secretsOfHome().callbackSecret): string {
  return `${stack().callback_url}/acquirer/${secret}/pix`;
}

/** Tells the mesh of some Pix as the acquirer would. */
export async function announce(items: readonly object[]): Promise<void> {
  const answer = await call(callbackUrl(), { method: 'POST', body: { pix: items } });
  expect(answer.status).toBe(200);
}

/** The acquirer's notice of a received Pix, and of what went back of it. */
export async function noticeOf(endToEndId: string): Promise<Json> {
  return (await simulator.request('GET', `/v2/pix/${endToEndId}`)).body;
}

/** The acquirer's own clock. */
export const clock = {
  async advance(seconds: number): Promise<void> {
    const answer = await atClock('POST', { advance_seconds: seconds });
    expect(answer.status).toBe(200);
  },
  async reset(): Promise<void> {
    await atClock('DELETE');
  },
};

async function atClock(method: string, body?: object): Promise<Answer> {
  return await call(`${stack().simulator_url}/control/clock`, { method, body });
}

/** An account's money by kind, without what tests do not compare. */
export async function balancesOf(accountId: string): Promise<Json> {
  const { status, body } = await admin('GET', `/admin/accounts/${accountId}/balances`);
  expect(status).toBe(200);
  const { available, pending, held, blocked, suspense } = body;
  return { available, pending, held, blocked, suspense };
}

/** Disputes of a charge, newest first. */
export async function disputesOf(chargeId: string): Promise<Json[]> {
  const { status, body } = await admin('GET', `/admin/disputes?charge_id=${chargeId}`);
  expect([status, status === 200 ? null : body]).toEqual([200, null]);
  return body.data;
}
