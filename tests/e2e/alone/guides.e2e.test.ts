import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Scope } from '@pixmesh/contracts/http/scopes';
import { eventually } from '@pixmesh/testkit/eventually';
import { Client } from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';

import { toOutputPattern } from '../../guides/match-output.ts';
import { listGuides, readSamples, type Sample } from '../../guides/read-samples.ts';
import {
  findMissingPrograms,
  runProgram,
  runTerminal,
  type SampleEnvironment,
  startReceiver,
} from '../../guides/run-sample.ts';
import { admin, homeOf, type Json, type Merchant, received, simulator, stack } from '../mesh.ts';
import { aPayingMerchant } from '../payout-calls.ts';

const FUNDS_CENTS = 5_000;
const SECRET = 'whsec_guides_0001';
const RECEIVERS = ['receiver.mjs', 'receiver-fastify.mjs', 'receiver.py'];

const samples = listGuides().flatMap((guide) => readSamples(guide));
const answering = samples.filter(({ name }) => !RECEIVERS.includes(name));

type RealDelivery = { event: string; id: string; bytes: Buffer; headers: Record<string, string> };

/** What has to be so at the acquirer before a program runs. */
const PREPARATIONS: Readonly<Record<string, () => Promise<void>>> = {
  'create-with-retries.mjs': failOneIssuing,
  'create_with_retries.py': failOneIssuing,
};

let merchant: Merchant;
let env: SampleEnvironment;

beforeAll(async () => {
  assert.deepEqual(findMissingPrograms(), [], 'the samples of the guides need these programs');
  merchant = await aPayingMerchant(FUNDS_CENTS);
  env = {
    PIXMESH_HOME: homeOf(),
    BASE_URL: stack().gateway_url,
    SIMULATOR_URL: stack().simulator_url,
    RECEIVER_URL: stack().receiver_url,
    API_KEY: await aKeyWithEveryScope(),
    CHARGE_ID: merchant.funding[0] ?? '',
    POLL_SECONDS: '0.1',
    WEBHOOK_SECRET: SECRET,
    PORT: '0',
  };
});

afterEach(async () => {
  await simulator.clearFaults();
});

describe('samples of the guides', () => {
  test.each(listGuides())('%s: each sample prints what the guide says', async (guide) => {
    const own = answering.filter((sample) => sample.guide === guide);
    const terminal = await runTerminal(
      own.filter(({ language }) => language === 'sh'),
      env,
    );
    for (const sample of own) {
      const printed =
        sample.language === 'sh' ? (terminal.get(sample.name) ?? '') : await runAlone(sample);
      expectOutput(sample, printed);
    }
  });

  test('a document is read as the platform reads it', async () => {
    const file = new URL('../../../packages/kernel/vectors/documents.json', import.meta.url);
    const vectors = JSON.parse(readFileSync(file, 'utf8')) as Json[];
    const documents = vectors.filter(({ kind }) => ['cpf', 'cnpj'].includes(kind));
    const inputs = documents.map(({ input }) => input).filter((input) => !/[\n\t]/.test(input));
    expect(inputs.length).toBeGreaterThan(50);
    const { stdout } = await runProgram(sampleNamed('documents.mjs'), {
      ...env,
      DOCUMENTS: JSON.stringify(inputs),
    });
    const expected = documents.filter(({ input }) => inputs.includes(input));
    expect(stdout.trimEnd().split('\n')).toEqual(
      expected.map(({ input, normalized }) => `${input}: ${normalized ?? null}`),
    );
  });
});

describe('receivers of the guides', () => {
  let delivery: RealDelivery;

  beforeAll(async () => {
    delivery = await aRealDelivery();
  });

  test('all of them are tried below', () => {
    const found = samples.filter(({ name }) => name.startsWith('receiver')).map(({ name }) => name);
    expect(found.toSorted()).toEqual(RECEIVERS.toSorted());
  });

  test.each(RECEIVERS)(
    '%s takes what the mesh sent, and nothing that was changed',
    async (name) => {
      await using receiver = await startReceiver(sampleNamed(name), env);
      const { 'x-webhook-signature': signature = '', ...unsigned } = delivery.headers;
      const post = async (headers: Record<string, string>, body: Buffer) =>
        (await fetch(`${receiver.url}/hook`, { method: 'POST', headers, body })).status;
      const changed = Buffer.from(delivery.bytes);
      changed.writeUInt8(changed.readUInt8(changed.length - 3) ^ 1, changed.length - 3);
      const foreign = createHmac('sha256', `${SECRET}x`).update(delivery.bytes).digest('hex');

      expect(await post(unsigned, delivery.bytes)).toBe(401);
      expect(await post(delivery.headers, changed)).toBe(401);
      expect(
        await post(
          { ...delivery.headers, 'x-webhook-signature': `sha256=${foreign}` },
          delivery.bytes,
        ),
      ).toBe(401);
      expect(
        await post({ ...unsigned, 'x-webhook-signature': signature.slice(0, -1) }, delivery.bytes),
      ).toBe(401);
      expect(await post({ ...unsigned, 'x-webhook-signature': 'é' }, delivery.bytes)).toBe(401);
      expect(receiver.output()).not.toContain(delivery.id);

      expect(await post(delivery.headers, delivery.bytes)).toBe(204);
      await eventually(() => {
        expect(receiver.output()).toContain(`${delivery.event} ${delivery.id} pending\n`);
      });
    },
  );
});

/** A delivery as the mesh really made it, recorded by the development receiver. */
async function aRealDelivery(): Promise<RealDelivery> {
  const path = `/guides-${Date.now()}`;
  const body = {
    amount: 1_000,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
    webhook_url: `http://shop.receiver.example.com${path}`,
    webhook_secret: SECRET,
  };
  const created = await fetch(`${stack().gateway_url}/v1/charges`, {
    method: 'POST',
    headers: {
      'x-api-key': merchant.key,
      'content-type': 'application/json',
      'idempotency-key': path,
    },
    body: JSON.stringify(body),
  });
  expect(created.status).toBe(201);
  const [request] = await eventually(async () => {
    const requests = await received(path);
    expect(requests.length).toBeGreaterThan(0);
    return requests;
  });
  const names = Object.keys(request.headers).filter((name) =>
    /^(x-webhook-|content-type)/.test(name),
  );
  return {
    event: request.headers['x-webhook-event'] as string,
    id: request.headers['x-webhook-delivery'] as string,
    bytes: Buffer.from(request.body_base64, 'base64'),
    headers: Object.fromEntries(names.map((name) => [name, request.headers[name] as string])),
  };
}

async function runAlone(sample: Sample): Promise<string> {
  if (sample.language === 'sql') return await runStatements(sample);
  await PREPARATIONS[sample.name]?.();
  const { stdout, stderr, code } = await runProgram(sample, env);
  expect([sample.name, code, stderr]).toEqual([sample.name, 0, '']);
  return stdout;
}

/** Statements in a schema of their own, of which nothing stays. Prints the rows that they answer. */
async function runStatements(sample: Sample): Promise<string> {
  const { postgres_url } = stack();
  const client = new Client({ connectionString: postgres_url });
  await client.connect();
  try {
    await client.query('begin; create schema guide_sample; set local search_path to guide_sample');
    const results = [await client.query(sample.code)].flat();
    await client.query('rollback');
    return results
      .flatMap(({ rows }) => rows)
      .map((row) => `${Object.values(row).join(' ')}\n`)
      .join('');
  } finally {
    await client.end();
  }
}

function expectOutput(sample: Sample, printed: string): void {
  const label = `${sample.guide} ${sample.name}`;
  if (sample.output === null) expect([label, printed]).toEqual([label, '']);
  else
    expect(`${label}:\n${printed.trimEnd()}`).toMatch(
      toOutputPattern(`${label}:\n${sample.output}`),
    );
}

function sampleNamed(name: string): Sample {
  const sample = samples.find((candidate) => candidate.name === name);
  if (sample === undefined) throw new Error(`no guide has a sample ${name}`);
  return sample;
}

async function aKeyWithEveryScope(): Promise<string> {
  const key = await admin('POST', `/admin/applications/${merchant.applicationId}/keys`, {
    name: 'guides',
    scopes: Scope.options,
  });
  expect(key.status).toBe(201);
  return key.body.key;
}

async function failOneIssuing(): Promise<void> {
  await simulator.setFaults([{ operation: 'issueCharge', fault: 'error_before', count: 1 }]);
}
