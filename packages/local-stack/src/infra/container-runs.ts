import type * as Testcontainers from 'testcontainers';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import { StartupFailure } from '../startup-failure.ts';
import { homeDigest } from './postgres-account.ts';

/** Found again after a kill by this label; its value stands for the home. */
const HOME_LABEL = 'dev.pixmesh.home';
/** Waiting for an image and a boot; the first start may have to download. */
const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 5_000;

export interface ContainerRuns {
  start(container: GenericContainer): Promise<StartedTestContainer>;
  /** Ends every container of this run, latest first. */
  close(): Promise<void>;
}

/** The containers of one home: whatever an earlier run of it left is removed before the first starts. */
export async function openContainerRuns(home: string): Promise<ContainerRuns> {
  const { getContainerRuntimeClient } = await importTestcontainers();
  const label = homeDigest(home);
  const { container } = await getContainerRuntimeClient();
  const filters = { label: [`${HOME_LABEL}=${label}`] };
  const stale = await container.dockerode.listContainers({ all: true, filters });
  await Promise.all(
    stale.map(({ Id }) => container.dockerode.getContainer(Id).remove({ force: true, v: true })),
  );
  const runs: Promise<StartedTestContainer>[] = [];
  return {
    start(definition) {
      const run = definition
        .withLabels({ [HOME_LABEL]: label })
        .withStartupTimeout(START_LIMIT_MS)
        .start();
      runs.push(run);
      return run;
    },
    async close() {
      for (const outcome of (await Promise.allSettled(runs)).toReversed()) {
        if (outcome.status === 'rejected') continue;
        await outcome.value.stop({ timeout: STOP_LIMIT_MS, remove: true, removeVolumes: true });
      }
    },
  };
}

/** Loaded only where it is asked for: it takes half a second, and Ryuk's image may not be reachable. */
export async function importTestcontainers(): Promise<typeof Testcontainers> {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  try {
    const library = await import('testcontainers');
    await library.getContainerRuntimeClient();
    return library;
  } catch (error) {
    throw new StartupFailure(
      `no container engine answers (${(error as Error).message}); start Docker, or leave PIXMESH_INFRA unset`,
    );
  }
}
