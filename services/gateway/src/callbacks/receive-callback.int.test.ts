import { TOPICS } from '@pixmesh/contracts/topics';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { CALLBACK_SECRET, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const PARALLEL_REPEATS = 20;

let gateway: TestGateway;
let topic: ReturnType<typeof followTopic>;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  gateway = await startTestGateway({ KAFKA_TOPIC_PREFIX: topicPrefix });
  topic = followTopic(topicPrefix, TOPICS.acquirerCallbacks);
});
afterAll(async () => {
  await topic[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});
afterEach(() => armFailpoints({}));

function post(body: string | Buffer, path = `/acquirer/${CALLBACK_SECRET}/pix`): Promise<Answer> {
  return sendRequest({ port: gateway.ports.callback, method: 'POST', path, body });
}

type CallbackRow = { body: Buffer; parsed: boolean; items: number; items_skipped: number };

/** Callbacks whose body holds `text`, as stored. */
function readStored(text: string): Promise<CallbackRow[]> {
  return gateway.database.db.query<CallbackRow>(
    sql`
      select body, parsed, items, items_skipped
      from callbacks
      where position(${Buffer.from(text)}::bytea in body) > 0
      order by id`,
  );
}

async function countStored(): Promise<number> {
  const [row] = await gateway.database.db.query<{ rows: number }>(
    sql`select count(*)::int as rows from callbacks`,
  );
  return row?.rows ?? 0;
}

function published(key: string) {
  return topic.messages.filter((message) => message.key === key);
}

describe('a callback', () => {
  test('is durable with each of its items before it is answered, and published after', async () => {
    const items = [
      { endToEndId: 'E1111', txid: 'tx1111', valor: '10.00', infoPagador: 'olá' },
      { endToEndId: 'E1112', devolucoes: [{ id: 'd1', status: 'DEVOLVIDO' }] },
      { endToEndId: 'E1113', tipo: 'SOLICITACAO', gnExtras: { idEnvio: 'env1113' } },
    ];
    const body = JSON.stringify({ pix: items }, null, 2);
    const answer = await post(body);
    expect([answer.status, answer.text]).toEqual([200, '{}']);
    const [stored] = await readStored('tx1111');
    expect(stored).toMatchObject({ parsed: true, items: 3, items_skipped: 0 });
    expect(stored?.body.toString()).toBe(body);
    await eventually(() => {
      expect(published('tx1111')).toHaveLength(1);
      expect(published('E1112')).toHaveLength(1);
      expect(published('env1113')).toHaveLength(1);
    });
    expect(published('tx1111')[0]).toMatchObject({
      headers: { kind: 'received', type: 'acquirer.callback' },
      value: { data: { kind: 'received', item: items[0] } },
    });
    expect(published('E1112')[0]?.headers['kind']).toBe('received_return');
    expect(published('env1113')[0]?.headers['kind']).toBe('sent');
  });

  test('may be posted to the bare address, and be one item by itself', async () => {
    const body = JSON.stringify({ endToEndId: 'E2221', txid: 'tx2221' });
    expect((await post(body, `/acquirer/${CALLBACK_SECRET}`)).status).toBe(200);
    await eventually(() => expect(published('tx2221')).toHaveLength(1));
  });

  test('that is repeated in parallel is taken each time', async () => {
    const body = JSON.stringify({ pix: [{ endToEndId: 'E3331', txid: 'tx3331' }] });
    const answers = await Promise.all(Array.from({ length: PARALLEL_REPEATS }, () => post(body)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(PARALLEL_REPEATS).fill(200));
    expect(await readStored('tx3331')).toHaveLength(PARALLEL_REPEATS);
    await eventually(() => expect(published('tx3331')).toHaveLength(PARALLEL_REPEATS));
  });

  test('with one bad item still delivers the others', async () => {
    const good = { endToEndId: 'E4441', txid: 'tx4441' };
    const bad = { endToEndId: 'E4442', txid: 'tx4442', infoPagador: 'x'.repeat(20_000) };
    const odd = { endToEndId: 'E4443', txid: 'nul\0 and \ud800 and ção' };
    expect((await post(JSON.stringify({ pix: [null, 7, bad, odd, good] }))).status).toBe(200);
    expect(await readStored('tx4441')).toMatchObject([
      { parsed: true, items: 2, items_skipped: 3 },
    ]);
    await eventually(() => {
      expect(published('tx4441')).toHaveLength(1);
      expect(published('E4443')).toHaveLength(1);
    });
    expect(published('tx4442')).toHaveLength(0);
  });

  test.each([
    { name: 'no JSON', body: 'unreadable-1 {' },
    { name: 'no object', body: '["unreadable-1"]' },
    { name: 'invalid UTF-8', body: Buffer.from('{"unreadable-1":"\xff\xfe"}', 'latin1') },
    { name: 'deep', body: `{"unreadable-1":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
    { name: 'empty', body: '' },
    { name: 'NUL', body: Buffer.from([0, 0, 0]) },
  ])('that cannot be read is kept as it came and answered 2xx: $name', async ({ body }) => {
    const before = await countStored();
    expect((await post(body)).status).toBe(200);
    expect(await countStored()).toBe(before + 1);
    const rows = await gateway.database.db.query<CallbackRow>(
      sql`select body, parsed, items, items_skipped from callbacks order by id desc limit 1`,
    );
    expect(rows[0]).toMatchObject({ parsed: false, items: 0 });
    expect(rows[0]?.body.equals(Buffer.from(body))).toBe(true);
  });

  test('above 1 MiB is a 413, and nothing is stored', async () => {
    const before = await countStored();
    const answer = await post('x'.repeat(1024 * 1024 + 1));
    expect([answer.status, answer.json['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect((await post(`{"x":"${'x'.repeat(1024 * 1024 - 8)}"}`)).status).toBe(200);
    expect(await countStored()).toBe(before + 1);
  });

  test('with the wrong secret is refused, and nothing is stored', async () => {
    const before = await countStored();
    for (const secret of [
      'wrong',
      CALLBACK_SECRET.slice(0, -1),
      `${CALLBACK_SECRET}x`,
      '%00',
      '..',
    ]) {
      for (const tail of ['', '/pix']) {
        const answer = await post('{"pix":[]}', `/acquirer/${secret}${tail}`);
        expect([secret, answer.status]).toEqual([secret, 401]);
        expect(answer.text).toBe(
          '{"code":"UNAUTHORIZED","message":"Authentication failed.","details":[]}',
        );
      }
    }
    expect(await countStored()).toBe(before);
  });

  test('that cannot be stored is not answered 2xx', async () => {
    armFailpoints({ 'gateway.callback.before-store': 'error' });
    const answer = await post('{"pix":[{"endToEndId":"E5551","txid":"tx5551"}]}');
    expect([answer.status, answer.json['code']]).toEqual([500, 'INTERNAL_ERROR']);
    expect(await readStored('tx5551')).toHaveLength(0);
  });

  test('that was stored is published, even when its answer fails', async () => {
    armFailpoints({ 'gateway.callback.after-store': 'error' });
    expect((await post('{"pix":[{"endToEndId":"E6661","txid":"tx6661"}]}')).status).toBe(500);
    await eventually(() => expect(published('tx6661')).toHaveLength(1));
  });
});

test('stored callbacks can be neither changed nor removed by the service', async () => {
  for (const statement of [sql`update callbacks set items = 9`, sql`delete from callbacks`]) {
    await expect(gateway.database.db.query(statement)).rejects.toMatchObject({ code: '42501' });
  }
});
