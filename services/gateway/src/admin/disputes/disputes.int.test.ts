import { DefenseBody, SendMessageBody } from '@pixmesh/contracts/internal/operator-disputes';
import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let disputeId: string;
const accountId = newId();

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.charges.requests.length = 0;
  disputeId = newId();
});

function aDispute(changes: object = {}): object {
  return { id: disputeId, account_id: accountId, object: 'dispute', status: 'open', ...changes };
}

/** The owner shows the dispute as `before`, and answers a change as told. */
function answerChange(before: object, status: number, after: object, headers = {}): void {
  gateway.owners.charges.answerWith((response, { method }) => {
    if (method === 'GET') answerJson(response, 200, { body: before });
    else answerJson(response, status, { body: after, headers });
  });
}

function send(change: 'defense' | 'messages', body: object, headers: readonly string[] = []) {
  return gateway.admin('POST', `/admin/disputes/${disputeId}/${change}`, { body, headers });
}

function lastAsked(): unknown {
  return JSON.parse(String(gateway.owners.charges.requests.at(-1)?.body));
}

async function readActions(): Promise<unknown[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${disputeId}`);
  return (audit.json['data'] as { action: string }[]).map(({ action }) => action);
}

const CHANGES = [
  {
    change: 'defense',
    body: { text: 'Delivered on the 20th.' },
    asked: DefenseBody,
    sent: { text: 'Delivered on the 20th.' },
    status: 200,
    actions: ['dispute.defended', 'dispute.defense_requested'],
  },
  {
    change: 'messages',
    body: { message: 'Send the proof, please.' },
    asked: SendMessageBody,
    sent: { message_id: expect.any(String), body: { message: 'Send the proof, please.' } },
    status: 201,
    actions: ['dispute.message_sent', 'dispute.message_requested'],
  },
] as const;

describe.each(CHANGES)('POST …/$change', ({ change, body, asked, sent, status, actions }) => {
  test('asks the owner of the dispute in the operator’s name, and is recorded', async () => {
    const after = aDispute({ status: 'under_review' });
    answerChange(aDispute(), status, after);
    expect(await send(change, body)).toMatchObject({ status, json: after });
    const seen = gateway.owners.charges.requests.at(-1);
    expect(seen).toMatchObject({
      method: 'POST',
      url: `/internal/disputes/${disputeId}/${change}`,
    });
    expect(asked.parse(lastAsked())).toEqual(sent);
    expect(seen?.claims).toEqual(forOperator());
    expect(await readActions()).toEqual(actions);
  });

  test('cannot speak for another operator by its body', async () => {
    answerChange(aDispute(), status, aDispute());
    await send(change, { ...body, operator_id: newId() });
    const seen = gateway.owners.charges.requests.at(-1);
    expect(seen?.claims).toEqual(forOperator());
  });

  test('of an unknown dispute is the owner’s 404, whatever the body says', async () => {
    const refusal = { code: 'DISPUTE_NOT_FOUND', message: 'x', details: [] };
    gateway.owners.charges.answerWith((response) => answerJson(response, 404, { body: refusal }));
    expect(await send(change, {})).toMatchObject({ status: 404, json: refusal });
    expect(gateway.owners.charges.requests).toHaveLength(1);
  });

  test('is a 500 while the owner is away, and recorded as asked for', async () => {
    gateway.owners.charges.answerWith((response, { method }) => {
      if (method === 'GET') answerJson(response, 200, { body: aDispute() });
      else response.destroy();
    });
    expect((await send(change, body)).status).toBe(500);
    expect(await readActions()).toEqual([actions[1]]);
  });
});

test.each(['under_review', 'won', 'lost'])(
  'a defense of a dispute that is %s is refused by its owner, and nothing is recorded',
  async (status) => {
    const refusal = { code: 'DISPUTE_CLOSED', message: 'x', details: [] };
    answerChange(aDispute({ status }), 409, refusal);
    expect(await send('defense', { text: 'x' })).toMatchObject({ status: 409, json: refusal });
    expect(await readActions()).toEqual([]);
  },
);

test.each([{}, { text: '' }, { text: ' ' }, { text: 1 }, { text: 'a\nb' }])(
  'a defense with a faulty body is never asked for: %j',
  async (faulty) => {
    answerChange(aDispute(), 200, aDispute());
    const answer = await send('defense', faulty);
    expect(answer).toMatchObject({
      status: 400,
      json: { code: 'VALIDATION_ERROR', details: ['text'] },
    });
    expect(gateway.owners.charges.requests).toHaveLength(1);
    expect(await readActions()).toEqual([]);
  },
);

test('a message with a faulty body is refused by its owner, and recorded as asked for', async () => {
  const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['message'] };
  answerChange(aDispute(), 400, refusal);
  const answer = await send('messages', { message: ' ' });
  expect(answer).toMatchObject({ status: 400, json: refusal });
  expect(lastAsked()).toMatchObject({ body: { message: ' ' } });
  expect(await readActions()).toEqual(['dispute.message_requested']);
});

test('a message is sent in any state of the dispute', async () => {
  answerChange(aDispute({ status: 'lost' }), 201, aDispute({ status: 'lost' }));
  expect((await send('messages', { message: 'x' })).status).toBe(201);
  expect(await readActions()).toHaveLength(2);
});

describe('a message with an Idempotency-Key', () => {
  const key = ['Idempotency-Key', 'message-0001'];
  const ownId = () => uuidV5(accountId, 'message:message-0001');

  test('goes to its owner under the id of the key and of the dispute’s account, the same each time', async () => {
    answerChange(aDispute(), 201, aDispute());
    for (const message of ['x', 'y']) {
      expect((await send('messages', { message }, key)).status).toBe(201);
      expect(lastAsked()).toMatchObject({ message_id: ownId(), body: { message } });
    }
    expect((await send('messages', { message: 'x' })).status).toBe(201);
    expect(lastAsked()).not.toMatchObject({ message_id: ownId() });
  });

  test('that was sent before is marked, and recorded as asked for alone', async () => {
    const headers = { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' };
    answerChange(aDispute(), 201, aDispute(), headers);
    const answer = await send('messages', { message: 1 }, key);
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(answer.headers['idempotency-mismatch']).toBe('true');
    expect(await readActions()).toEqual(['dispute.message_requested']);
  });

  test('and a body that is no JSON is refused after the look-up, in the gateway’s words', async () => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['body'] };
    answerChange(aDispute(), 400, refusal);
    const coded = [...key, 'content-encoding', 'gzip'];
    const answer = await send('messages', { message: 'x' }, coded);
    expect([answer.status, answer.json['details']]).toEqual([400, ['content-encoding']]);
    expect(lastAsked()).toMatchObject({ message_id: ownId(), body: null });
  });

  test.each([
    [['Idempotency-Key', 'short'], 'IDEMPOTENCY_KEY_REQUIRED'],
    [['Idempotency-Key', 'x'.repeat(256)], 'VALIDATION_ERROR'],
    [[...key, ...key], 'VALIDATION_ERROR'],
  ])('that cannot be used never reaches the owner: %j', async (headers, code) => {
    answerChange(aDispute(), 201, aDispute());
    expect((await send('messages', { message: 'x' }, headers)).json).toMatchObject({ code });
    expect(gateway.owners.charges.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});
