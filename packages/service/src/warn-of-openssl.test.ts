import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { warnOfOpenssl } from './warn-of-openssl.ts';

test('a Node whose OpenSSL leaks is warned of, and no other', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  warnOfOpenssl(logger, '3.5.7');
  expect(lines).toEqual([]);
  warnOfOpenssl(logger, '3.5.8');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, openssl: '3.5.8' }]);
});

test('the Node that is installed is no such one', () => {
  expect(process.versions.openssl).not.toBe('3.5.8');
});
