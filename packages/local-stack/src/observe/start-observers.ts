import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { serverEnvironment } from '../inherited-environment.ts';
import { REPOSITORY_ROOT } from '../repository.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { findObservers } from './find-observers.ts';

const SOURCES = join(REPOSITORY_ROOT, 'deploy/observability/prometheus');
/** Where the generated configuration expects Alertmanager. */
const ALERTMANAGER_ADDRESS = '127.0.0.1:9093';
const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
const ANSWER_LIMIT_MS = 1_000;
/** What a laptop keeps. */
const KEEP = '7d';
/** What the stack starts beside the mesh, and what no rule looks at. */
const NOT_OF_THE_MESH = new Set(['acquirer-simulator']);

export type Observers = {
  prometheusUrl: string;
  /** Null where Alertmanager is not on PATH: what fires is seen at Prometheus. */
  alertmanagerUrl: string | null;
  /** Names the processes that are scraped from now on. */
  follow(internalUrls: Readonly<Record<string, string>>): void;
};

type ObserveInput = { supervisor: Supervisor; ports: { of(slot: string): number } };

/**
 * Starts Prometheus, and Alertmanager where there is one, with the files of `deploy/observability`, as an installation
 * loads them.
 */
export async function startObservers({ supervisor, ports }: ObserveInput): Promise<Observers> {
  const { prometheus, alertmanager } = findObservers();
  const folder = join(supervisor.home, 'observe');
  mkdirSync(folder, { recursive: true });
  cpSync(SOURCES, folder, { recursive: true });
  const address = (slot: string) => `127.0.0.1:${ports.of(slot)}`;
  const config = readFileSync(join(SOURCES, 'prometheus.yml'), 'utf8');
  writeFileAtomically(
    join(folder, 'prometheus.yml'),
    config.replace(ALERTMANAGER_ADDRESS, address('alertmanager')),
  );
  const follow: Observers['follow'] = (urls) =>
    writeFileAtomically(join(folder, 'targets.json'), renderTargets(urls));
  follow({});
  const start = (name: 'prometheus' | 'alertmanager', command: string, args: readonly string[]) =>
    supervisor.start({
      name,
      command,
      args: [`--config.file=${name}.yml`, `--web.listen-address=${address(name)}`, ...args],
      env: serverEnvironment(),
      cwd: folder,
      stage: STAGES.service,
      stopSignal: 'SIGTERM',
      stopLimitMs: STOP_LIMIT_MS,
      readyLimitMs: READY_LIMIT_MS,
      isReady: () => isReady(`http://${address(name)}/-/ready`),
    });
  await Promise.all([
    start('prometheus', prometheus, [
      '--storage.tsdb.path=prometheus-data',
      `--storage.tsdb.retention.time=${KEEP}`,
    ]),
    // One alone has no other to share with.
    alertmanager &&
      start('alertmanager', alertmanager, [
        '--storage.path=alertmanager-data',
        '--cluster.listen-address=',
      ]),
  ]);
  return {
    prometheusUrl: `http://${address('prometheus')}`,
    alertmanagerUrl: alertmanager && `http://${address('alertmanager')}`,
    follow,
  };
}

/** Targets by process; `charges-2` is one of `charges`. */
export function renderTargets(internalUrls: Readonly<Record<string, string>>): string {
  const targets = Object.entries(internalUrls)
    .filter(([name]) => !NOT_OF_THE_MESH.has(name))
    .map(([name, url]) => ({
      targets: [new URL(url).host],
      labels: { service: name.replace(/-\d+$/, ''), process: name },
    }));
  return `${JSON.stringify(targets, null, 2)}\n`;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })).ok;
  } catch {
    return false;
  }
}
