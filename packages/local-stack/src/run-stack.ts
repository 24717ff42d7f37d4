import { runDemo } from './demo.ts';
import { onStarterGone, notifyStarter } from './detach.ts';
import { readInfraMode } from './infra/start-infra.ts';
import { bootMesh } from './mesh/boot-mesh.ts';
import type { Scale } from './mesh/scale.ts';
import type { StackFile } from './mesh/stack-file.ts';
import { startTraceReceiver, type TraceReceiver } from './mesh/trace-receiver.ts';
import { watchSources } from './mesh/watch-sources.ts';
import { openPrivateHome } from './infra/private-home.ts';
import type { Progress } from './progress.ts';
import { printFailure } from './run-command.ts';
import { StartupFailure } from './startup-failure.ts';
import { listenForStop } from './stop-signals.ts';
import { createSupervisor, type Supervisor } from './supervisor/supervisor.ts';

interface RunInput {
  home: string;
  log: Progress;
  demo: boolean;
  watch: boolean;
  /** Prometheus and Alertmanager beside the mesh. */
  observe: boolean;
  scale: Scale;
  /** Runs on without a terminal; notifies the process that started it when it is ready. */
  detached: boolean;
}

/** Boots the mesh, runs the demo, and stays until it is told to stop. */
export async function runStack(input: RunInput): Promise<void> {
  const { home, log, detached } = input;
  await using resources = new AsyncDisposableStack();
  openPrivateHome(home);
  const supervisor = await createSupervisor({ home, log });
  resources.defer(() => supervisor.stop());
  const stop = stopOnRequest(supervisor, input);
  resources.defer(stop.close);
  try {
    const traces = await startTraceReceiver(input.demo && !detached);
    resources.defer(traces.close);
    await bootAndShow(input, { supervisor, traces, resources });
  } catch (error) {
    // A boot that was interrupted fails somewhere; the interruption is what happened.
    if (!supervisor.isStopping) throw error;
  }
  await stop.done;
}

async function bootAndShow(
  input: RunInput,
  parts: { supervisor: Supervisor; traces: TraceReceiver; resources: AsyncDisposableStack },
): Promise<void> {
  const { log, detached } = input;
  const { supervisor, traces, resources } = parts;
  const otlpEndpoint = traces.endpoint;
  const { scale, observe } = input;
  const mesh = await bootMesh({
    supervisor,
    log,
    mode: readInfraMode(),
    scale,
    observe,
    otlpEndpoint,
  });
  resources.defer(mesh.close);
  if (input.watch) {
    const watcher = watchSources(supervisor, log);
    resources.defer(() => watcher.close());
  }
  printStack(log, mesh.stack);
  if (input.demo) await runDemoLoudly(input, traces);
  notifyStarter({ kind: 'ready', exitCode: process.exitCode === 1 ? 1 : 0 });
  if (!detached) log.line('the stack stays up; Ctrl-C stops it');
}

/** A demo that fails leaves the stack up to be looked at, and the exit code 1 behind. */
async function runDemoLoudly({ home, log }: RunInput, traces: TraceReceiver): Promise<void> {
  try {
    await runDemo({ home, spans: traces.spans });
  } catch (error) {
    process.exitCode = 1;
    log.line('THE DEMO FAILED');
    printFailure(
      error instanceof StartupFailure ? error : new StartupFailure((error as Error).message),
    );
    log.line(`the logs of all processes are in ${home}/logs`);
  }
}

/** Stops everything at the first request and kills it at the second; `done` is when all has ended. */
function stopOnRequest(
  supervisor: Supervisor,
  { log, detached }: RunInput,
): { done: Promise<void>; close(): void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onStop = (reason: string) => {
    log.line(`stopping (${reason}); asking once more kills`);
    const startedAt = performance.now();
    const report = () => {
      log.line(`stopped in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      resolve();
    };
    supervisor.stop().then(report, reject);
  };
  const signals = listenForStop({
    followParent: !detached,
    onStop,
    onImpatience: () => void supervisor.stop({ fast: true }),
  });
  const starter = onStarterGone(() => onStop('the starting process is gone'));
  return {
    done: promise,
    close() {
      signals.close();
      starter.close();
    },
  };
}

function printStack(log: Progress, stack: StackFile): void {
  log.line('ready');
  // The API key stays in `stack.json`: what is printed here also ends up in a log.
  const shown = ['gateway_url', 'admin_url', 'simulator_url', 'receiver_url'] as const;
  for (const name of shown) log.line(`  ${name.padEnd(13)} ${stack[name]}`);
  if (stack.prometheus_url === undefined) return;
  log.line(`  prometheus    ${stack.prometheus_url}`);
  log.line(
    `  alertmanager  ${stack.alertmanager_url ?? 'not on PATH (Debian: apt install prometheus-alertmanager)'}`,
  );
}
