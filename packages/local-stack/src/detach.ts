import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { StartArguments } from './command-line.ts';
import { formatScale } from './mesh/scale.ts';
import { openPrivateHome } from './infra/private-home.ts';
import { REPOSITORY_ROOT } from './repository.ts';
import { createLogFile, type LogFile } from './supervisor/log-file.ts';
import { requireFreeHome } from './supervisor/pid-file.ts';

const START_ENTRY = fileURLToPath(new URL('start.ts', import.meta.url));
const RELAY_INTERVAL_MS = 100;

interface ReadyMessage {
  kind: 'ready';
  exitCode: number;
}

/**
 * Starts the supervisor in a session of its own, shows what it prints until the stack is ready, and
 * leaves it running. Interrupted before that, it takes the half-started stack down with it: the
 * supervisor notices the closed channel.
 */
export async function startDetached(home: string, args: StartArguments): Promise<void> {
  requireFreeHome(home);
  openPrivateHome(home);
  const log = createLogFile(home, 'supervisor');
  const flags = [
    ...(args.demo ? [] : ['--no-demo']),
    ...(args.watch ? ['--watch'] : []),
    ...(args.observe ? ['--observe'] : []),
    ...(args.scale.size > 0 ? ['--scale', formatScale(args.scale)] : []),
  ];
  const child = log.lend((descriptor) =>
    spawn(process.execPath, [START_ENTRY, '--detached', ...flags], {
      cwd: REPOSITORY_ROOT,
      detached: true,
      stdio: ['ignore', descriptor, descriptor, 'ipc'],
    }),
  );
  const relay = relayLog(log);
  const outcome = await new Promise<ReadyMessage | { kind: 'ended' }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as ReadyMessage));
    child.once('exit', () => resolve({ kind: 'ended' }));
    child.once('error', reject);
  });
  relay.close();
  // A start that failed has said why in its log, which was shown.
  process.exitCode = outcome.kind === 'ready' ? outcome.exitCode : 1;
  if (child.connected) child.disconnect();
  child.unref();
}

/** Tells the process that started this one, if it waits; from then on this one is on its own. */
export function notifyStarter(message: ReadyMessage): void {
  process.removeAllListeners('disconnect');
  if (process.connected) process.send?.(message);
}

/** Calls back when the starter went away before the stack was ready. */
export function onStarterGone(callback: () => void): { close(): void } {
  process.on('disconnect', callback);
  return { close: () => process.off('disconnect', callback) };
}

function relayLog(log: LogFile): { close(): void } {
  let offset = 0;
  const relay = () => {
    const text = log.readFrom(offset);
    offset += Buffer.byteLength(text);
    process.stdout.write(text);
  };
  const timer = setInterval(relay, RELAY_INTERVAL_MS);
  return {
    close() {
      clearInterval(timer);
      relay();
    },
  };
}
