import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { readOptions } from './options.ts';

const STACK = {
  gateway_url: 'http://127.0.0.1:1',
  admin_url: 'http://127.0.0.1:2',
  admin_token: 'token',
  simulator_url: 'http://127.0.0.1:3',
  receiver_url: 'http://127.0.0.1:4',
  api_key: 'key',
  pids: {},
};

function aStackFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'stack.json');
  writeFileSync(file, JSON.stringify(STACK));
  return file;
}

test('an address and a key are enough; what is not given is not there', () => {
  const { world } = readOptions(['--url', 'https://api.example.com/', '--key', 'k']);
  expect(world).toEqual({
    url: 'https://api.example.com',
    key: 'k',
    admin: null,
    simulatorUrl: null,
    receiver: null,
    patience: false,
  });
});

test('a running stack gives everything, patience included', () => {
  const { world } = readOptions(['--stack', aStackFile()]);
  expect(world).toMatchObject({
    url: STACK.gateway_url,
    key: STACK.api_key,
    admin: { url: STACK.admin_url, token: STACK.admin_token },
    simulatorUrl: STACK.simulator_url,
    receiver: { control: STACK.receiver_url },
    patience: true,
  });
});

test('patience can be taken back', () => {
  const { world } = readOptions(['--stack', aStackFile(), '--no-patience']);
  expect(world?.patience).toBe(false);
});

test.each([
  [[], /--url and --key/],
  [['--url', 'https://api.example.com'], /--url and --key/],
  [['--nonsense'], /--nonsense/],
])('arguments %j are refused with what is missing', (args: string[], message: RegExp) => {
  expect(() => readOptions(args)).toThrow(message);
});

test('the map needs no installation', () => {
  expect(readOptions(['--list'])).toMatchObject({ world: null });
});
