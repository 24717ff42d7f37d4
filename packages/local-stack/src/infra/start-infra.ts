import { resolve } from 'node:path';
import { allocatePorts } from '../ports/allocate-ports.ts';
import { portVariable } from '../ports/fixed-ports.ts';
import { createProgress, type Progress } from '../progress.ts';
import { createSupervisor } from '../supervisor/supervisor.ts';
import { bootInfra, type InfraUrls, readGivenUrls } from './boot-infra.ts';
import { issueIdentities } from './identities.ts';
import type { InfraMode } from './infra-provider.ts';
import { INFRA_SLOTS, type InfraSlot } from './infra-slots.ts';
import { closeFolder } from './private-home.ts';

export interface Infra extends AsyncDisposable {
  /** Folder with data, logs and identities. */
  home: string;
  urls: InfraUrls;
  /** Living processes; parts that come from the environment or from containers have none. */
  readonly processes: { name: string; pid: number }[];
  stop(): Promise<void>;
}

export interface InfraOptions {
  /** Folder for data, logs and pids; two stacks with two homes run side by side. */
  home: string;
  log?: Progress;
  mode: InfraMode | 'from-environment';
  /** True for tests: Postgres does not wait for the disk. Processes of this machine only. */
  isThrowaway?: boolean;
  /** Ports by slot; free ones by default. */
  ports?: Partial<Record<InfraSlot, number>>;
}

/** What `PIXMESH_INFRA` asks for. */
export function readInfraMode(environment = process.env): InfraMode {
  return environment['PIXMESH_INFRA'] === 'containers' ? 'containers' : 'processes';
}

/**
 * Boots Postgres, Kafka, the schema registry and Redis, each unless its URL is in the environment.
 * Dead processes come back on the same ports; nothing outlives this process.
 */
export async function startInfra(options: InfraOptions): Promise<Infra> {
  const log = options.log ?? createProgress();
  const home = resolve(options.home);
  closeFolder(home);
  await issueIdentities(home);
  const given = readGivenUrls();
  if (given) {
    log.line('postgres, kafka, registry, redis: from the environment');
    const stop = async () => undefined;
    return { home, urls: given, processes: [], stop, [Symbol.asyncDispose]: stop };
  }
  const mode = options.mode === 'from-environment' ? readInfraMode() : options.mode;
  await using resources = new AsyncDisposableStack();
  const block = await allocatePorts(INFRA_SLOTS, {
    environment: withPorts(options.ports ?? {}),
  });
  resources.defer(block.release);
  const supervisor = await createSupervisor({ home, log });
  resources.defer(() => supervisor.stop());
  const { isThrowaway } = options;
  const urls = await bootInfra({ home, log, mode, supervisor, isThrowaway, portOf: block.of });
  const kept = resources.move();
  const stop = () => kept.disposeAsync();
  return {
    home,
    urls,
    get processes() {
      return Object.entries(supervisor.pids()).map(([name, pid]) => ({ name, pid }));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Ports given by the caller win over the environment's. */
function withPorts(ports: Partial<Record<InfraSlot, number>>): Record<string, string | undefined> {
  const given = Object.entries(ports).map(([slot, port]) => [portVariable(slot), String(port)]);
  return { ...process.env, ...Object.fromEntries(given) };
}
