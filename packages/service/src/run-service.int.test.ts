import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const SERVICE = fileURLToPath(new URL('testing/short-lived-service.ts', import.meta.url));
const PRELOAD = '@pixmesh/telemetry/preload';
/** One of the modules that load before the service begins, and the moment of the signal. */
const SIGNALLED = `data:text/javascript,process.kill(process.pid,'SIGTERM')`;

test('a signal stops the service in order, and that is no failure', async () => {
  expect(await run('ok', { signal: 'SIGTERM' })).toEqual({
    code: 0,
    out: 'started\nsignal, SIGTERM\nstopped\n',
    error: '',
  });
});

test('a signal that comes while modules load ends the process at once, by no default action', async () => {
  const preloads = [PRELOAD, SIGNALLED];
  expect(await run('ok', { preloads })).toEqual({ code: 143, out: '', error: '' });
});

test('once the service begins the signal stops it in order, behind the preload too', async () => {
  expect(await run('ok', { signal: 'SIGTERM', preloads: [PRELOAD] })).toEqual({
    code: 0,
    out: 'started\nsignal, SIGTERM\nstopped\n',
    error: '',
  });
});

test('a wrong configuration is one line that names every variable', async () => {
  const { code, out, error } = await run('config');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toMatch(/^short-lived: PORT: .+; HOST: .+\n$/);
});

test('a port in use is one line that names it', async () => {
  expect(await run('port')).toMatchObject({ code: 1, error: 'short-lived: port 80 is in use\n' });
});

test('a service that ends itself because it cannot go on says why, stops in order and fails', async () => {
  const { code, out, error } = await run('fatal');
  expect({ code, out }).toEqual({
    code: 1,
    out: 'started\ncannot go on, the consumer gave up\nstopped\n',
  });
  expect(error).toContain('Error: the consumer gave up');
});

test('two causes at once end a service in order too', async () => {
  const { code, out, error } = await run('fatal-twice');
  expect({ code, out }).toEqual({
    code: 1,
    out: 'started\ncannot go on, one consumer gave up\nstopped\n',
  });
  expect(error).toContain('Error: another one gave up');
});

test('an unhandled rejection ends the process, after a stop in order', async () => {
  const { code, out, error } = await run('rejection');
  expect({ code, out }).toEqual({
    code: 1,
    out: 'started\nunhandled error, nobody caught me\nstopped\n',
  });
  expect(error).toContain('short-lived: Error: nobody caught me');
});

test('an error that quotes its input ends the process without the quotation', async () => {
  const { code, error } = await run('broken-json');
  expect(code).toBe(1);
  expect(error).toContain('short-lived: SyntaxError: (quotes its input)');
  expect(error).not.toContain('canary');
});

/** `signal` comes once the service has started. */
type Circumstances = { signal?: NodeJS.Signals; preloads?: readonly string[] };

async function run(fate: string, { signal, preloads = [] }: Circumstances = {}) {
  const args = [...preloads.flatMap((preload) => ['--import', preload]), SERVICE, fate];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  if (signal) child.stdout.once('data', () => child.kill(signal));
  const [[code], out, error] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, error };
}
