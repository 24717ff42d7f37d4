import { randomUUID } from 'node:crypto';

import fastify from 'fastify';
import pg from 'pg';
import { Pool } from 'undici';

import { answerCalls, type BaselineCalls } from '../child-calls.ts';

/**
 * The least that could create a charge: one process, no gateway, no authentication, no idempotency, no trace;
 * two commits and one call to the acquirer, like the mesh.
 */
const db = new pg.Pool({ connectionString: setting('DATABASE_URL'), max: 20 });
const acquirer = new Pool(setting('ACQUIRER_URL'), { connections: 64 });

await db.query(`
  create schema if not exists baseline;
  create table if not exists baseline.charges (
    id uuid primary key, amount bigint not null, customer jsonb not null, status text not null, br_code text);
  create table if not exists baseline.events (
    event_id uuid primary key, type text not null, message jsonb not null);
`);
const token = await fetchToken();

const app = fastify();
app.post<{ Body: { amount: number; customer: { name: string; document: string } } }>(
  '/charges',
  async (request, reply) => {
    const id = randomUUID();
    const { amount, customer } = request.body;
    await db.query({
      name: 'insert',
      text: `insert into baseline.charges (id, amount, customer, status) values ($1, $2, $3, 'processing')`,
      values: [id, amount, JSON.stringify(customer)],
    });
    const brCode = await issue(id, amount, customer);
    const pix = { br_code: brCode };
    const charge = { id, object: 'charge', status: 'pending', amount, customer, pix };
    await db.query({
      name: 'settle',
      text: `
        with moved as (
          update baseline.charges set status = 'pending', br_code = $2 where id = $1 returning id
        )
        insert into baseline.events (event_id, type, message)
        select event.* from moved, unnest($3::uuid[], $4::text[], $5::jsonb[]) as event`,
      values: [
        id,
        brCode,
        [randomUUID(), randomUUID()],
        ['charge.pix.created', 'charge.pix.emitted'],
        [JSON.stringify(charge), JSON.stringify(charge)],
      ],
    });
    return reply.code(201).send(charge);
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
answerCalls<BaselineCalls>({ url: () => app.listeningOrigin });

async function issue(
  id: string,
  amount: number,
  customer: { name: string; document: string },
): Promise<string> {
  const response = await acquirer.request({
    method: 'PUT',
    path: `/v2/cob/${id.replaceAll('-', '')}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      calendario: { expiracao: 86_400 },
      devedor: { cpf: customer.document, nome: customer.name },
      valor: { original: (amount / 100).toFixed(2) },
      chave: setting('PIX_KEY'),
    }),
  });
  const answer = (await response.body.json()) as { pixCopiaECola: string };
  if (response.statusCode !== 201) throw new Error(`the acquirer answered ${response.statusCode}`);
  return answer.pixCopiaECola;
}

async function fetchToken(): Promise<string> {
  const credentials = Buffer.from(`${setting('CLIENT_ID')}:${setting('CLIENT_SECRET')}`);
  const response = await acquirer.request({
    method: 'POST',
    path: '/oauth/token',
    headers: {
      authorization: `Basic ${credentials.toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ grant_type: 'client_credentials' }),
  });
  return ((await response.body.json()) as { access_token: string }).access_token;
}

function setting(name: string): string {
  const value = process.env[`BASELINE_${name}`];
  if (value === undefined) throw new Error(`BASELINE_${name} is missing`);
  return value;
}
