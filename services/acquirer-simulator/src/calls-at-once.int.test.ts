import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** More than one statement takes. */
const MANY = 100;

let database: TestDatabase;
let simulator: TestSimulator;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
  token = await simulator.token();
});
afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
afterEach(async () => {
  await simulator.call('DELETE', '/control/faults');
});

type Answer = { status: number; body: Record<string, unknown> };

async function api(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

function newTxids(count = MANY): string[] {
  return Array.from({ length: count }, () => aCharge().txid);
}

/** A different amount for each, so that none can pass for another. */
function amountOf(index: number): string {
  return `${index + 1}.00`;
}

async function issue(txid: string, original: string): Promise<Answer> {
  const body = { valor: { original }, chave: TEST_ACCOUNT.pixKey };
  return await api('PUT', `/v2/cob/${txid}`, body);
}

async function issueAll(txids: readonly string[]): Promise<Answer[]> {
  return await Promise.all(txids.map((txid, index) => issue(txid, amountOf(index))));
}

/** The first call waits for the lock, so that others have come before its statement ends. */
async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const { db } = database;
  const done = await db.transaction(async (tx) => {
    await tx.query(sql`lock table charges, received_pix in exclusive mode`);
    const working = work();
    await eventually(async () => {
      // Databases of one template share the numbers of their tables.
      const waiting = sql`
        select from pg_locks
        where not granted and relation = ${table}::regclass
          and database = (select oid from pg_database where datname = current_database())`;
      expect(await db.query(waiting)).not.toEqual([]);
    });
    return { working };
  });
  return await done.working;
}

async function pay(txid: string, body?: object): Promise<Answer> {
  return await simulator.call('POST', `/control/charges/${txid}/pay`, body);
}

async function journalOf(kind: string, txids: readonly string[]) {
  const { body } = await simulator.call('GET', '/control/journal?limit=100000');
  const lines = body['data'] as { kind: string; txid: string; amount: number }[];
  return lines.filter((line) => line.kind === kind && txids.includes(line.txid));
}

/** The charges of the notices so far, one entry for each notice. */
async function announcedOf(txids: readonly string[]): Promise<string[]> {
  const items = await listItems(simulator);
  return items.map(({ txid }) => txid as string).filter((txid) => txids.includes(txid));
}

function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

/** How many transactions have written the rows. */
async function transactionsOf(rows: Promise<{ xmin: string }[]>): Promise<number> {
  return new Set((await rows).map(({ xmin }) => xmin)).size;
}

describe('many creations at once', () => {
  it('share statements, and each has an answer of its own', async () => {
    const txids = newTxids();
    const answers = await whileLocked('charges', () => issueAll(txids));
    expect(countOf(answers, 201)).toBe(MANY);
    expect(answers.map(({ body }) => [body['txid'], body['valor']])).toEqual(
      txids.map((txid, index) => [txid, { original: amountOf(index), modalidadeAlteracao: 0 }]),
    );
    const looked = await Promise.all(txids.map((txid) => api('GET', `/v2/cob/${txid}`)));
    expect(looked.map(({ body }) => body)).toEqual(answers.map(({ body }) => body));
    expect(await journalOf('issued', txids)).toHaveLength(MANY);
    const written = database.db.query<{ xmin: string }>(
      sql`select xmin::text from charges where txid = any(${txids})`,
    );
    expect(await transactionsOf(written)).toBeLessThan(MANY);
  });

  it('give a txid to one of them, and refuse a refused one alone', async () => {
    const [used = '', wanted = '', free = '', ...others] = newTxids();
    await issue(used, '1.00');
    const [again, taken, refused, rest] = await Promise.all([
      issue(used, '2.00'),
      Promise.all(['3.00', '4.00', '5.00'].map((original) => issue(wanted, original))),
      issue(free, '0.00'),
      issueAll(others),
    ]);
    expect(again).toMatchObject({ status: 409, body: { nome: 'txid_duplicado' } });
    expect(taken.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect(refused).toMatchObject({ status: 400, body: { nome: 'valor_invalido' } });
    expect(countOf(rest, 201)).toBe(others.length);
    const winner = taken.find(({ status }) => status === 201);
    expect((await api('GET', `/v2/cob/${wanted}`)).body).toEqual(winner?.body);
    expect(await journalOf('issued', [used, wanted, free, ...others])).toHaveLength(MANY - 1);
    expect(await journalOf('refused', [free])).toMatchObject([{ amount: 0 }]);
  });
});

describe('many look-ups at once', () => {
  it('each find their own charge, or none', async () => {
    const [paid = '', ...txids] = newTxids(20);
    await issueAll([paid, ...txids]);
    await pay(paid);
    const asked = [...txids, paid, paid, aCharge().txid, ...txids];
    const answers = await Promise.all(asked.map((txid) => api('GET', `/v2/cob/${txid}`)));
    expect(answers.map(({ body }) => body['txid'])).toEqual([
      ...txids,
      paid,
      paid,
      undefined,
      ...txids,
    ]);
    expect(countOf(answers, 404)).toBe(1);
    const received = answers.map(({ body }) => (body['pix'] as object[] | undefined)?.length);
    expect(received.filter((count) => count !== undefined)).toEqual([1, 1]);
  });
});

describe('many payments at once', () => {
  it('share statements, and make one received Pix and one callback each', async () => {
    const txids = newTxids();
    await issueAll(txids);
    const payAll = () => Promise.all(txids.map((txid) => pay(txid)));
    const answers = await whileLocked('received_pix', payAll);
    expect(answers.map(({ status, body }) => [status, body['txid'], body['amount']])).toEqual(
      txids.map((txid, index) => [200, txid, (index + 1) * 100]),
    );
    expect(answers.every(({ body }) => body['notices'] === 1)).toBe(true);
    await eventually(async () => {
      expect((await announcedOf(txids)).toSorted()).toEqual(txids.toSorted());
    });
    expect(await journalOf('paid', txids)).toHaveLength(MANY);
    const found = await Promise.all(txids.map((txid) => api('GET', `/v2/cob/${txid}`)));
    expect(found.map(({ body }) => body['status'])).toEqual(txids.map(() => 'CONCLUIDA'));
    expect(
      found.map(({ body }) =>
        (body['pix'] as { endToEndId: string }[]).map((pix) => pix.endToEndId),
      ),
    ).toEqual(answers.map(({ body }) => [body['end_to_end_id']]));
    const written = database.db.query<{ xmin: string }>(
      sql`select xmin::text from received_pix where txid = any(${txids})`,
    );
    expect(await transactionsOf(written)).toBeLessThan(MANY);
    await eventually(async () => {
      expect(await database.db.query(sql`select from callbacks`)).toEqual([]);
    });
  });

  it('are refused alone, repeated alone, and pay one charge as often as it is paid', async () => {
    const [expired = '', removed = '', twice = '', named = '', ...txids] = newTxids(40);
    await issueAll([expired, removed, twice, named, ...txids]);
    await api('PATCH', `/v2/cob/${removed}`, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    await database.db.query(sql`
      update charges set created_at = created_at - interval '2 days' where txid = ${expired}`);
    const end_to_end_id = `E12345678202603040506${'y'.repeat(11)}`;
    const unknown = aCharge().txid;
    const all = [
      expired,
      unknown,
      removed,
      twice,
      ...txids.slice(0, 10),
      twice,
      ...txids.slice(10),
    ];
    const [answers, repeats] = await Promise.all([
      Promise.all(all.map((txid) => pay(txid))),
      Promise.all(Array.from({ length: 5 }, () => pay(named, { end_to_end_id }))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(
      all.map((txid) => ({ [expired]: 409, [unknown]: 404 })[txid] ?? 200),
    );
    expect(repeats.filter(({ body }) => body['repeated'] === false)).toHaveLength(1);
    expect(await journalOf('paid', [twice])).toHaveLength(2);
    expect(await journalOf('paid', [named])).toHaveLength(1);
    expect(await journalOf('paid', [expired, removed, ...txids])).toHaveLength(txids.length + 1);
    expect((await api('GET', `/v2/cob/${removed}`)).body).toMatchObject({
      status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
      pix: [{ txid: removed }],
    });
    const announced = [removed, twice, twice, ...txids, ...repeats.map(() => named)];
    await eventually(async () => {
      const seen = await announcedOf([expired, unknown, named, ...all]);
      expect(seen.toSorted()).toEqual(announced.toSorted());
    });
  });

  it('and removals of the same charges leave a journal in which no paid charge is removed', async () => {
    const txids = newTxids(40);
    await issueAll(txids);
    const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
    await Promise.all(
      txids.flatMap((txid) => [pay(txid), api('PATCH', `/v2/cob/${txid}`, removal)]),
    );
    const canceled = new Set((await journalOf('canceled', txids)).map(({ txid }) => txid));
    const { body } = await simulator.call('GET', '/control/journal?limit=100000');
    for (const txid of txids) {
      const lines = (body['data'] as { kind: string; txid: string }[]).filter(
        (line) => line.txid === txid,
      );
      expect(lines.map(({ kind }) => kind)).toEqual(
        canceled.has(txid) ? ['issued', 'canceled', 'paid'] : ['issued', 'paid'],
      );
    }
  });
});

describe('a fault with a count of one', () => {
  async function add(operation: string, fault: string): Promise<void> {
    const rules = [{ operation, fault, count: 1 }];
    expect((await simulator.call('PUT', '/control/faults', { rules })).status).toBe(200);
  }

  async function countLeft(): Promise<unknown> {
    const { body } = await simulator.call('GET', '/control/faults');
    return (body['rules'] as { count: number }[])[0]?.count;
  }

  it('is used up by exactly one of many creations', async () => {
    const txids = newTxids();
    await add('issueCharge', 'error_before');
    const answers = await issueAll(txids);
    expect([countOf(answers, 201), countOf(answers, 500)]).toEqual([MANY - 1, 1]);
    expect(await countLeft()).toBe(0);
    expect(await journalOf('issued', txids)).toHaveLength(MANY - 1);
  });

  it('is used up by exactly one of many look-ups', async () => {
    const [txid = ''] = newTxids(1);
    await issue(txid, '1.00');
    await add('getCharge', 'error_after');
    const answers = await Promise.all(
      Array.from({ length: MANY }, () => api('GET', `/v2/cob/${txid}`)),
    );
    expect([countOf(answers, 200), countOf(answers, 500)]).toEqual([MANY - 1, 1]);
    expect(await countLeft()).toBe(0);
  });

  it.each([
    ['drop', MANY - 1],
    ['duplicate', MANY + 1],
    ['delay', MANY],
    ['reorder', MANY],
  ])('%s is used up by exactly one of many payments', async (fault, announced) => {
    const txids = newTxids();
    await issueAll(txids);
    await add('callback', fault);
    const answers = await Promise.all(txids.map((txid) => pay(txid)));
    expect(countOf(answers, 200)).toBe(MANY);
    expect(answers.reduce((sum, { body }) => sum + Number(body['notices']), 0)).toBe(announced);
    expect(await countLeft()).toBe(0);
    await eventually(async () => expect(await announcedOf(txids)).toHaveLength(announced));
    expect(await journalOf('paid', txids)).toHaveLength(MANY);
  });
});
