import { expect, test } from 'vitest';

import { meshConnector } from './mesh-connector.ts';
import { NotConnectedError } from './repeat-call.ts';

test('a certificate that cannot be read is an error of the connection, and gives its place back', async () => {
  let texts = { key: '', cert: '', ca: '' };
  const connect = meshConnector({ current: () => texts }, 'ledger');
  texts = { key: 'unreadable', cert: 'unreadable', ca: 'unreadable' };
  const errors = await Promise.all(Array.from({ length: 40 }, () => errorOf(connect)));
  expect(errors).toHaveLength(40);
  for (const error of errors) expect(error).toBeInstanceOf(NotConnectedError);
});

async function errorOf(connect: ReturnType<typeof meshConnector>): Promise<unknown> {
  const options = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'https:', port: '1' };
  return await new Promise((resolve) => {
    connect(options, (...[error]) => resolve(error));
  });
}
