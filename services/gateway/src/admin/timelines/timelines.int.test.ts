import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import type { OwnedTimeline, TimelineEntry } from '@pixmesh/contracts/internal/timeline';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

const REFUND_ID = newId();
const COMMANDS = [newId(), newId(), newId()] as const;

let gateway: TestGateway;
let id: string;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  id = newId();
  for (const owner of Object.values(gateway.owners)) owner.requests.length = 0;
  answerJournals([]);
  answerDeliveries([]);
});

function at(second: number): string {
  return `2026-11-21T12:00:0${second}.000Z`;
}

function aStep(second: number, what: string, changes: Partial<TimelineEntry> = {}): TimelineEntry {
  const service = 'charges' as const;
  return {
    at: at(second),
    kind: 'state',
    service,
    id: what,
    resource_id: id,
    what,
    details: {},
    ...changes,
  };
}

function answerOwned(owner: 'charges' | 'payouts', changes: Partial<OwnedTimeline> = {}): void {
  const body = {
    entries: [aStep(0, 'created'), aStep(5, 'paid')],
    truncated: false,
    resource_ids: [id, REFUND_ID],
    command_ids: COMMANDS,
    ...changes,
  };
  gateway.owners[owner].answerWith((response) => answerJson(response, 200, { body }));
}

type Journal = Omit<BookedJournal, 'amount'> & { amount: number };

function answerJournals(data: readonly Journal[]): void {
  const body = { data, has_more: false };
  gateway.owners.ledger.answerWith((response) => answerJson(response, 200, { body }));
}

function answerDeliveries(entries: readonly TimelineEntry[], truncated = false): void {
  const body = { entries, truncated };
  gateway.owners.dispatcher.answerWith((response) => answerJson(response, 200, { body }));
}

describe.each([
  ['charges', 'charges', 'CHARGE_NOT_FOUND'],
  ['payouts', 'payouts', 'PAYOUT_NOT_FOUND'],
] as const)('the timeline of one of the %s', (kind, owner, unknown) => {
  const read = () => gateway.admin('GET', `/admin/${kind}/${id}/timeline`);

  test('joins what its owner, the ledger and the dispatcher tell, in order', async () => {
    answerOwned(owner);
    const accountId = newId();
    const journal = { account_id: accountId, created_at: at(4) };
    answerJournals([
      {
        ...journal,
        command_id: COMMANDS[0],
        kind: 'credit_received_pix',
        resource_id: null,
        amount: 1_990,
      },
      { ...journal, command_id: COMMANDS[1], kind: 'take_hold', resource_id: REFUND_ID, amount: 0 },
      {
        ...journal,
        command_id: COMMANDS[2],
        kind: 'settle_hold',
        resource_id: REFUND_ID,
        amount: 90,
      },
    ]);
    const service = 'webhook-dispatcher' as const;
    answerDeliveries([
      aStep(6, 'charge.pix.paid → https://shop.example.com', { kind: 'delivery', service }),
      aStep(7, 'POST 200', { kind: 'attempt', service }),
    ]);
    const answer = await read();
    expect(answer.status).toBe(200);
    const { entries, ...timeline } = answer.json as { entries: TimelineEntry[] };
    expect(timeline).toEqual({ object: 'timeline', resource_id: id, truncated: false });
    expect(entries.map(({ what }) => what)).toEqual([
      'created',
      'credit_received_pix',
      'settle_hold',
      'paid',
      'charge.pix.paid → https://shop.example.com',
      'POST 200',
    ]);
    expect(entries[1]).toEqual({
      at: at(4),
      kind: 'journal',
      service: 'ledger',
      id: COMMANDS[0],
      resource_id: id,
      what: 'credit_received_pix',
      details: { amount: 1_990, account_id: accountId },
    });
    expect(entries[2]!.resource_id).toBe(REFUND_ID);
  });

  test('asks each of them once, for the installation, by the ids that the owner named', async () => {
    answerOwned(owner);
    await read();
    const [asked] = gateway.owners[owner].requests;
    expect(asked).toMatchObject({ method: 'GET', url: `/internal/${kind}/${id}/timeline` });
    const [journals] = gateway.owners.ledger.requests;
    expect(journals).toMatchObject({ method: 'POST', url: '/internal/journals/lookup' });
    expect(JSON.parse(String(journals?.body))).toEqual({ command_ids: COMMANDS });
    const [deliveries] = gateway.owners.dispatcher.requests;
    expect(deliveries).toMatchObject({ method: 'POST', url: '/internal/timelines/deliveries' });
    expect(JSON.parse(String(deliveries?.body))).toEqual({ resource_ids: [id, REFUND_ID] });
    expect(deliveries?.claims).toEqual(forOperator());
    for (const { requests } of [gateway.owners.ledger, gateway.owners.dispatcher]) {
      expect(requests).toHaveLength(1);
    }
  });

  test('asks the ledger nothing where no money was to move, and says when a part was cut', async () => {
    answerOwned(owner, { command_ids: [] });
    answerDeliveries([], true);
    expect((await read()).json).toMatchObject({ truncated: true });
    expect(gateway.owners.ledger.requests).toEqual([]);
  });

  test('of an unknown one is the owner’s 404, and nobody else is asked', async () => {
    const refusal = { code: unknown, message: 'x', details: [] };
    gateway.owners[owner].answerWith((response) => answerJson(response, 404, { body: refusal }));
    expect(await read()).toMatchObject({ status: 404, json: refusal });
    expect(gateway.owners.ledger.requests).toEqual([]);
    expect(gateway.owners.dispatcher.requests).toEqual([]);
  });

  test.each(['ledger', 'dispatcher', owner] as const)(
    'is a 500 while %s is away or says what cannot be read: no half of a timeline',
    async (away) => {
      answerOwned(owner);
      gateway.owners[away].answerWith((response) => response.destroy());
      expect((await read()).status).toBe(500);
      const body = { object: 'list' };
      gateway.owners[away].answerWith((response) => answerJson(response, 200, { body }));
      expect((await read()).json).toMatchObject({ code: 'INTERNAL_ERROR' });
    },
  );
});
