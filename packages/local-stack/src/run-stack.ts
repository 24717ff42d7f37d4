import { runDemo } from './demo.ts';
import { readInfraMode } from './infra/start-infra.ts';
import { bootMesh } from './mesh/boot-mesh.ts';
import type { Mesh } from './mesh/boot-mesh.ts';
import type { StackFile } from './mesh/stack-file.ts';
import { startTraceReceiver } from './mesh/trace-receiver.ts';
import { watchSources } from './mesh/watch-sources.ts';
import type { Progress } from './progress.ts';
import { printFailure } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';
import { createSupervisor } from './supervisor/supervisor.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

interface RunInput {
  home: string;
  log: Progress;
  demo: boolean;
  watch: boolean;
  /** Runs on without a terminal; tells the process that started it when it is ready. */
  detached: boolean;
}

/** Boots the mesh, runs the demo, and stays until it is told to stop. */
export async function runStack(input: RunInput): Promise<void> {
  const { home, log, detached } = input;
  await using resources = new AsyncDisposableStack();
  const supervisor = await createSupervisor({ home, log });
  resources.defer(() => supervisor.stop());
  const stopped = stopOnRequest(supervisor, input);
  try {
    const traces = await startTraceReceiver(input.demo && !detached);
    resources.defer(() => traces.close());
    const otlpEndpoint = traces.endpoint;
    const mesh = await bootMesh({ supervisor, log, mode: readInfraMode(), otlpEndpoint });
    resources.defer(() => mesh.close());
    if (input.watch) resources.use(disposable(watchSources(supervisor, log)));
    if (!detached) printStack(mesh.stack);
    if (input.demo) await runDemoLoudly(input, traces.spans);
    announceReady(mesh, detached);
    if (!detached) log.line('the stack stays up; Ctrl-C stops it');
  } catch (error) {
    if (!supervisor.isStopping) throw error;
  }
  await stopped;
}

/** Resolves when a stop was asked for and everything has ended. */
function stopOnRequest(supervisor: Supervisor, { log, detached }: RunInput): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const keepAlive = setInterval(() => undefined, 60_000);
  const since = () => performance.now();
  listenForStop({
    followParent: !detached,
    onStop(reason) {
      log.line(`stopping (${reason}); once more kills`);
      const startedAt = since();
      void supervisor.stop().then(() => {
        clearInterval(keepAlive);
        log.line(`stopped in ${((since() - startedAt) / 1000).toFixed(1)} s`);
        resolve();
      }, reject);
    },
    onImpatience: () => void supervisor.stop({ fast: true }),
  });
  return promise;
}
