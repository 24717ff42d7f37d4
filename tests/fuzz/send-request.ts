import { type Agent, request } from 'node:http';

/** One request exactly as it is to stand on the wire: header names and values in a row, repeated ones too. */
export type SentRequest = {
  method: string;
  /** With the scheme, host and query. */
  url: string;
  headers?: readonly string[];
  body?: string | Uint8Array;
  agent?: Agent;
};

export type ReceivedAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body, byte for byte. */
  text: string;
  /** From before the request was written until the whole answer had been read. */
  durationMs: number;
};

const ANSWER_MS_MAX = 30_000;

/** Sends a request that `fetch` would refuse to send or tidy up first. */
export async function sendRequest(sent: SentRequest): Promise<ReceivedAnswer> {
  const url = new URL(sent.url);
  const target = sent.url.slice(url.origin.length);
  const headers = ['Host', url.host, ...(sent.headers ?? [])];
  if (sent.body !== undefined) headers.push('Content-Length', `${Buffer.byteLength(sent.body)}`);
  return await new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const outgoing = request(
      {
        host: url.hostname,
        port: url.port,
        method: sent.method,
        path: target,
        headers,
        ...(sent.agent ? { agent: sent.agent } : {}),
        timeout: ANSWER_MS_MAX,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const durationMs = performance.now() - startedMs;
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            durationMs,
          });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${sent.url}`)));
    outgoing.on('error', reject);
    outgoing.end(sent.body);
  });
}
