/** A service without work: `ok` runs until it is told to stop, the others fail in the way they are named. */
import { setImmediate as setImmediatePromise } from 'node:timers/promises';

import { z } from 'zod';

import { readConfig } from '../config.ts';
import { endProcess, runService } from '../run-service.ts';

const [fate] = process.argv.slice(2);

function readBroken(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

await runService('short-lived', async () => {
  if (fate === 'config') readConfig(z.object({ PORT: z.string(), HOST: z.string() }), {});
  if (fate === 'port') throw Object.assign(new Error('listen'), { code: 'EADDRINUSE', port: 80 });
  const timer = setInterval(() => undefined, 1_000);
  if (fate === 'fatal') setImmediate(() => endProcess(new Error('the consumer gave up')));
  if (fate === 'fatal-twice') {
    for (const one of ['one consumer', 'another one']) {
      setImmediate(() => endProcess(new Error(`${one} gave up`)));
    }
  }
  if (fate === 'rejection') setImmediate(() => void Promise.reject(new Error('nobody caught me')));
  if (fate === 'broken-json') setImmediate(() => void Promise.reject(readBroken('canary')));
  process.stdout.write('started\n');
  // The rest of a slow boot; a signal may come meanwhile.
  await setImmediatePromise();
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    process.stdout.write('stopped\n');
  };
  return {
    [Symbol.asyncDispose]: stop,
    stop: async ({ reason, signal, err }) => {
      process.stdout.write(`${[reason, signal, err?.message].filter(Boolean).join(', ')}\n`);
      await stop();
    },
  };
});
