import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.ts';
import { REPOSITORY_ROOT } from '../repository.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { MESH_SERVICES } from './mesh-services.ts';

/** Editors and git write many files at once; one restart answers them all. */
const DEBOUNCE_MS = 300;

/** Restarts a service when its own sources change, and all of them when a package's do. */
export function watchSources(supervisor: Supervisor, log: Progress): { close(): void } {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const note = (names: readonly string[]) => {
    for (const name of names) changed.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => void restartChanged(supervisor, log, changed), DEBOUNCE_MS);
  };
  const watchers = listWatched().map(({ folder, services }) =>
    watch(folder, { recursive: true }, (_event, file) => {
      if (file?.endsWith('.ts') && !file.endsWith('.test.ts')) note(services);
    }),
  );
  log.line('watching sources of services and packages');
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

async function restartChanged(
  supervisor: Supervisor,
  log: Progress,
  changed: Set<string>,
): Promise<void> {
  const isOf = (name: string) => changed.has(name.replace(/-\d+$/, ''));
  const names = supervisor.names().filter(isOf);
  changed.clear();
  log.line(`sources changed; restarting ${names.join(', ')}`);
  const outcomes = await Promise.allSettled(names.map((name) => supervisor.restart(name)));
  for (const [index, outcome] of outcomes.entries()) {
    const failure = outcome.status === 'rejected' ? (outcome.reason as Error) : undefined;
    log.line(failure ? failure.message : `${names[index]} is ready again`);
  }
}

function listWatched(): { folder: string; services: readonly string[] }[] {
  const all = MESH_SERVICES.map((service) => service.name);
  const packages = readdirSync(join(REPOSITORY_ROOT, 'packages'))
    .filter((name) => name !== 'local-stack' && name !== 'testkit')
    .map((name) => ({ folder: join(REPOSITORY_ROOT, 'packages', name, 'src'), services: all }));
  const services = all.map((name) => ({
    folder: join(REPOSITORY_ROOT, 'services', name, 'src'),
    services: [name],
  }));
  return [...packages, ...services].filter(({ folder }) => existsSync(folder));
}
