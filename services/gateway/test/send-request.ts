import { request } from 'node:http';

export type Answer = {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
  json: Record<string, unknown>;
};

type ToSend = {
  port: number;
  method?: string;
  /** Goes on the wire as it is: nothing is resolved or encoded. */
  path: string;
  /** Name, value, name, value …, so that a header can be repeated. */
  headers?: readonly string[];
  body?: string | Buffer | undefined;
};

/** Sends one request over a socket of its own and reads the whole answer. */
export function sendRequest({
  port,
  method = 'GET',
  path,
  headers = [],
  body,
}: ToSend): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
    const sent = request({
      port,
      method,
      path,
      host: '127.0.0.1',
      agent: false,
      headers: ['host', `127.0.0.1:${port}`, ...headers, ...length],
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
        });
      });
    });
    sent.end(body);
  });
}
