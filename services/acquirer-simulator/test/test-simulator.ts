import { randomUUID } from 'node:crypto';

import type { Acquirer, PayoutToSend } from '@pixmesh/acquirer/acquirer';
import { type AcquirerConfig, createAcquirer } from '@pixmesh/acquirer/client';
import { checkNoticeItem } from '@pixmesh/acquirer/testing/check-exchange';
import { readConfig } from '@pixmesh/service/config';
import { expect } from 'vitest';

import { AcquirerSimulatorConfig } from '#config.ts';
import { startAcquirerSimulator } from '#service.ts';

import { checkAnswers } from './check-answers.ts';

/** The key and credentials of every simulator under test. */
export const TEST_ACCOUNT = {
  clientId: 'test-client',
  clientSecret: 'test-secret',
  pixKey: '71cdf9ba-c695-4e3c-b010-abb521a3f1be',
} as const;

/** Limit of a call that is to be answered, on a machine that is busy with something else. */
const PATIENT_MS = 30_000;

type ControlAnswer = { status: number; body: Record<string, unknown> };

export type TestSimulator = AsyncDisposable & {
  url: string;
  /** Null unless the environment sets TLS_PORT and so on. */
  tlsUrl: string | null;
  receiverUrl: string;
  /** A client of the simulator; its connections end with the simulator. */
  client(options?: Partial<AcquirerConfig>): Acquirer;
  /** An access token, for calls that the client does not make. */
  token(): Promise<string>;
  /** Calls the control API, or the receiver under `/receiver`; answers status and parsed body. */
  call(method: string, path: string, body?: object): Promise<ControlAnswer>;
};

/** Environment of a simulator on free ports. */
export function testEnvironment(databaseUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'silent',
    INTERNAL_PORT: '0',
    PORT: '0',
    RECEIVER_PORT: '0',
    ACQUIRER_CLIENT_ID: TEST_ACCOUNT.clientId,
    ACQUIRER_CLIENT_SECRET: TEST_ACCOUNT.clientSecret,
    ACQUIRER_PIX_KEY: TEST_ACCOUNT.pixKey,
    CALLBACK_RETRY_DELAY_MS: '50',
  };
}

/**
 * A simulator in this process, over the given database. Each of its answers is held against the Central Bank's
 * document; its end throws where one deviates.
 */
export async function startTestSimulator(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<TestSimulator> {
  const env = { ...testEnvironment(databaseUrl), ...environment };
  const config = readConfig(AcquirerSimulatorConfig, env);
  const answers = checkAnswers();
  const simulator = await startAcquirerSimulator(config).finally(answers.stopHooking);
  const clients: Acquirer[] = [];
  const { url, tlsUrl, receiverUrl } = simulator;
  return {
    url,
    tlsUrl,
    receiverUrl,
    client: (options) => {
      const client = createAcquirer({ url, timeoutMs: PATIENT_MS, ...TEST_ACCOUNT, ...options });
      clients.push(client);
      return client;
    },
    token: async () => await fetchToken(url),
    call: async (method, path, body) =>
      await callControl({ url, receiverUrl }, { method, path, body }),
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
      answers.rejectDeviations();
    },
  };
}

async function fetchToken(url: string): Promise<string> {
  const { clientId, clientSecret } = TEST_ACCOUNT;
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${credentials}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** A charge worth R$ 10.00 with a txid of its own. */
export function aCharge(
  change: { txid?: string; amountCents?: bigint; expiresInSeconds?: number } = {},
) {
  return {
    txid: randomUUID().replaceAll('-', ''),
    amountCents: 1_000n,
    expiresInSeconds: 3_600,
    debtor: { name: 'Maria da Silva', document: '52998224725' },
    description: 'Pedido 1',
    ...change,
  };
}

/** An order worth R$ 10.00 to somebody's random key, with an idEnvio of its own. */
export function aSend(change: Partial<PayoutToSend> = {}): PayoutToSend {
  return {
    idEnvio: randomUUID().replaceAll('-', ''),
    amountCents: 1_000n,
    pixKey: '8f2a1c3e-52d1-4b8a-9a55-0f6f3d2b7c11',
    recipientDocument: null,
    description: 'Repasse 1',
    ...change,
  };
}

export type JournalLine = {
  sequence: number;
  kind: string;
  id_envio: string | null;
  end_to_end_id: string | null;
  amount: number | null;
  natureza: string | null;
};

/** What the journal says about one order, oldest first. */
export async function journalOfSend(
  simulator: Pick<TestSimulator, 'call'>,
  idEnvio: string,
): Promise<JournalLine[]> {
  const { body } = await simulator.call('GET', '/control/journal?limit=100000');
  return (body['data'] as JournalLine[]).filter((line) => line.id_envio === idEnvio);
}

/** A charge that somebody has paid, by its ids. */
export async function aPaidCharge(
  simulator: TestSimulator,
  change: { amountCents?: bigint; paidAt?: string } = {},
): Promise<{ txid: string; endToEndId: string }> {
  const { paidAt, ...terms } = change;
  const charge = aCharge(terms);
  await simulator.client().issueCharge(charge);
  const body = { ...(paidAt && { paid_at: paidAt }) };
  const paid = await simulator.call('POST', `/control/charges/${charge.txid}/pay`, body);
  return { txid: charge.txid, endToEndId: paid.body['end_to_end_id'] as string };
}

/** What the journal says about one received Pix, oldest first. */
export async function journalOfPix(
  simulator: Pick<TestSimulator, 'call'>,
  endToEndId: string,
): Promise<JournalLine[]> {
  const { body } = await simulator.call('GET', '/control/journal?limit=100000');
  return (body['data'] as JournalLine[]).filter((line) => line.end_to_end_id === endToEndId);
}

/** Items of the notices so far, in the order of their arrival. */
export async function listItems(
  simulator: Pick<TestSimulator, 'call'>,
  path = '/callbacks/pix',
): Promise<Record<string, unknown>[]> {
  const notices = await listNotices(simulator, path);
  const items = notices.flatMap(({ body }) => (JSON.parse(body) as { pix: [] }).pix);
  expect(items.flatMap(checkNoticeItem)).toEqual([]);
  return items;
}

/** Where every notice of a received Pix goes in tests: the development receiver. */
export async function receiveCallbacks(
  simulator: TestSimulator,
  path = '/callbacks',
): Promise<void> {
  await simulator.client().registerCallback(`${simulator.receiverUrl}${path}`);
}

type Notice = { sequence: number; body: string; answered_status: number | null };

/** Notices so far, as the development receiver recorded them. */
export async function listNotices(
  simulator: Pick<TestSimulator, 'call'>,
  path = '/callbacks/pix',
): Promise<Notice[]> {
  const query = `path=${encodeURIComponent(path)}`;
  const { body } = await simulator.call('GET', `/receiver/requests?${query}`);
  return body['data'] as Notice[];
}

export async function callControl(
  origins: { url: string; receiverUrl: string },
  call: { method: string; path: string; body?: object | undefined },
): Promise<ControlAnswer> {
  const toReceiver = call.path.startsWith('/receiver/');
  const origin = toReceiver ? origins.receiverUrl : origins.url;
  const path = toReceiver ? call.path.slice('/receiver'.length) : call.path;
  const answer = await fetch(`${origin}${path}`, {
    method: call.method,
    ...(call.body && {
      body: JSON.stringify(call.body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: (text === '' ? {} : JSON.parse(text)) as ControlAnswer['body'],
  };
}
