import { readFileSync } from 'node:fs';

import { isPublicAddress } from '@pixmesh/kernel/ip-ranges';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answerWith, type Receiver, startReceiver } from '#testing/start-receiver.ts';

import { parseDevReceivers } from './dev-receivers.ts';
import { createExchange, type ExchangeResult } from './exchange.ts';
import { parseForbiddenAddresses } from './forbidden-addresses.ts';
import type { ResolveName } from './resolve-name.ts';

/** Short, so that a name server that never answers costs the suite little. */
const TIMEOUT_MS = 400;
const OWN_ADDRESS = '8.8.4.4';

type DnsAnswer = string[] | 'NXDOMAIN' | 'TIMEOUT';
type Row = {
  id: string;
  url: string;
  at: 'write' | 'send';
  expect: 'accept' | 'refuse';
  why: string;
  setup?: {
    dns?: Record<string, DnsAnswer[]>;
    attempt?: number;
    response?: { status: number; headers: Record<string, string> };
  };
};

const file = new URL('../../vectors/ssrf.json', import.meta.url);
const rows = (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter((row) => row.at === 'send');

let receiver: Receiver;
let response: { status: number; headers: Record<string, string> };

beforeAll(async () => {
  receiver = await startReceiver((request, reply) =>
    answerWith(response.status, response.headers)(request, reply),
  );
});

afterAll(() => receiver[Symbol.asyncDispose]());

test('the file has every row of the list', () => {
  expect(rows).toHaveLength(52);
});

describe.each(rows)('$id $url ($why)', (row) => {
  test(`is ${row.expect === 'accept' ? 'requested exactly once' : 'a failed attempt'}, and only public addresses are dialled`, async () => {
    const { result, dialled, requests } = await run(row);
    const isMapped = new URL(row.url).hostname.endsWith('.receiver.example.com');
    if (row.expect === 'accept') {
      expect(result).toMatchObject({ outcome: 'succeeded', error: null });
      expect(requests).toBe(1);
    } else {
      expect(result.outcome).toBe('failed');
      expect(result.error).toMatch(/^[a-z_]+: ./);
      // A redirect is answered to the one request of its attempt; nothing else is asked at all.
      expect(requests).toBe(row.setup?.response === undefined ? 0 : 1);
    }
    for (const address of dialled) {
      expect(isMapped ? address === '127.0.0.1' : isPublicAddress(address, 'send')).toBe(true);
    }
    if (isMapped) expect(dialled).toEqual(['127.0.0.1']);
  });
});

/** Makes the attempts of a row; counts belong to the last one, which is the one that is meant. */
async function run(
  row: Row,
): Promise<{ result: ExchangeResult; dialled: string[]; requests: number }> {
  response = row.setup?.response ?? { status: 200, headers: {} };
  const dialled: string[] = [];
  await using exchange = createExchange({
    timeoutMs: TIMEOUT_MS,
    resolveName: scriptedResolver(row.setup?.dns ?? {}),
    devReceivers: parseDevReceivers(`*.receiver.example.com=127.0.0.1:${receiver.port}`) ?? [],
    isForbiddenAddress: parseForbiddenAddresses(OWN_ADDRESS) ?? (() => true),
    // Where a public address is dialled, the receiver stands in for it.
    openSocket: (timeout) => {
      const connect = buildConnector({ timeout });
      return (options, callback) => {
        dialled.push(options.hostname);
        connect({ ...options, hostname: '127.0.0.1', port: String(receiver.port) }, callback);
      };
    },
  });
  const post = () => exchange.post({ url: row.url, headers: {}, body: Buffer.from('{}') });
  for (let attempt = 1; attempt < (row.setup?.attempt ?? 1); attempt += 1) await post();
  const before = receiver.requests.length;
  dialled.length = 0;
  const result = await post();
  return { result, dialled, requests: receiver.requests.length - before };
}

/** Gives each name its answers one after another, the last one for ever, and follows aliases. */
function scriptedResolver(script: Record<string, DnsAnswer[]>): ResolveName {
  const asked = new Map<string, number>();
  return resolve;

  async function resolve(name: string): Promise<string[]> {
    if (name === 'localhost') return ['127.0.0.1'];
    const answers = script[name] ?? ['NXDOMAIN'];
    const turn = asked.get(name) ?? 0;
    asked.set(name, turn + 1);
    const answer = answers[Math.min(turn, answers.length - 1)]!;
    if (answer === 'TIMEOUT') return await new Promise<never>(() => undefined);
    if (answer === 'NXDOMAIN') throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    return (await Promise.all(answer.map(toAddresses))).flat();
  }

  async function toAddresses(record: string): Promise<string[]> {
    const [kind, value = ''] = record.split(/ (.*)/s);
    if (kind === 'CNAME') return await resolve(value.replace(/\.$/, ''));
    return [value.startsWith('<') ? OWN_ADDRESS : value];
  }
}
