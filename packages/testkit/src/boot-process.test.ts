import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { bootProcess } from './boot-process.ts';

const READY_SERVER = `require('http').createServer((_, answer) => answer.end()).listen(process.env.PORT)`;

test('a process that ends before it is ready is started again, on other ports', async () => {
  const given: (readonly number[])[] = [];
  const { child, ports } = await bootProcess(2, (free) => {
    given.push(free);
    const [port = 0] = free;
    return spawnNode(given.length === 1 ? 'process.exit(1)' : READY_SERVER, port);
  });
  child.kill();
  await once(child, 'exit');
  expect(given).toHaveLength(2);
  expect(ports).toBe(given[1]);
  expect(new Set(given.flat()).size).toBe(4);
});

test('one that ends each time is given up with what it said', async () => {
  const starting = bootProcess(1, ([port = 0]) =>
    spawnNode(`console.error('no database'); process.exitCode = 1;`, port),
  );
  await expect(starting).rejects.toThrow(/ended 3 times: no database/);
});

function spawnNode(script: string, port: number) {
  return spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PORT: String(port) },
  });
}
