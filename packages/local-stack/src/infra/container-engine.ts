import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type * as Testcontainers from 'testcontainers';
import type { ContainerRuntimeClient } from 'testcontainers';
import { z } from 'zod';
import { StartupFailure } from '../startup-failure.ts';

/** Found again after a kill by this label; its value stands for the home. */
const HOME_LABEL = 'dev.pixmesh.home';

export type ContainerEngine = ContainerRuntimeClient['container']['dockerode'];

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

/** Marks what belongs to a home. */
export function labelsOf(home: string): Record<string, string> {
  return { [HOME_LABEL]: home };
}

/** Removes containers and networks of a home, whichever run of it made them. */
export async function removeAllOf(engine: ContainerEngine, home: string): Promise<void> {
  const filters = { label: [`${HOME_LABEL}=${home}`] };
  const containers = await engine.listContainers({ all: true, filters });
  await Promise.all(
    containers.map(({ Id }) =>
      unlessGone(engine.getContainer(Id).remove({ force: true, v: true })),
    ),
  );
  const networks = await engine.listNetworks({ filters });
  await Promise.all(networks.map(({ Id }) => unlessGone(engine.getNetwork(Id).remove())));
}

/**
 * A network on which containers find each other by name, and whose published ports are bound to the
 * loopback: testcontainers itself can only publish on every interface.
 */
export async function createLoopbackNetwork(
  engine: ContainerEngine,
  input: { name: string; labels: Record<string, string> },
): Promise<void> {
  await engine.createNetwork({
    Name: input.name,
    Driver: 'bridge',
    Labels: input.labels,
    Options: { 'com.docker.network.bridge.host_binding_ipv4': '127.0.0.1' },
  });
}

export async function hasImage(engine: ContainerEngine, image: string): Promise<boolean> {
  try {
    await engine.getImage(image).inspect();
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

/** Has the engine start a container again whenever it fails. */
export async function keepRunning(engine: ContainerEngine, id: string): Promise<void> {
  await engine.getContainer(id).update({ RestartPolicy: { Name: 'on-failure' } });
}

const ContainerEvent = z.object({
  Action: z.enum(['start', 'die']),
  Actor: z.object({ ID: z.string(), Attributes: z.object({ name: z.string() }) }),
});

/**
 * Follows the containers of a home: `onPid` is called with a container's name and the pid of its first process, where
 * the engine runs on this machine, or null when it has ended.
 */
export async function followPids(
  engine: ContainerEngine,
  home: string,
  onPid: (name: string, pid: number | null) => void,
): Promise<Disposable> {
  const filters = { label: [`${HOME_LABEL}=${home}`], event: ['start', 'die'] };
  const events = (await engine.getEvents({ filters })) as Readable;
  const follow = async (): Promise<void> => {
    for await (const line of createInterface({ input: events })) {
      const { Action: action, Actor: actor } = ContainerEvent.parse(JSON.parse(line));
      const pid = action === 'start' ? await pidOf(engine, actor.ID) : null;
      onPid(actor.Attributes.name, pid);
    }
  };
  // The stream ends with the engine, and then there is nothing to follow.
  follow().catch(() => undefined);
  return { [Symbol.dispose]: () => void events.destroy() };
}

async function pidOf(engine: ContainerEngine, id: string): Promise<number | null> {
  try {
    const { State: state } = await engine.getContainer(id).inspect();
    return state.Pid === 0 ? null : state.Pid;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Downloads an image; testcontainers' own pull cannot be interrupted and hides what went wrong. */
export async function pullImage(
  engine: ContainerEngine,
  image: string,
  abortSignal: AbortSignal,
): Promise<void> {
  try {
    const stream = await engine.pull(image, { abortSignal });
    await new Promise<void>((resolve, reject) => {
      engine.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    abortSignal.throwIfAborted();
    throw new StartupFailure(
      `the engine has no image ${image} and cannot download it: ${reasonOf(error)}`,
    );
  }
}

/** The engine's own words, on one line. */
export function reasonOf(error: unknown): string {
  const { message, json } = error as Error & { json?: { message?: string } | null };
  const words = json?.message ?? message.replace(/^\(HTTP code \d+\) [^-]* - /, '');
  return words.replaceAll(/\s+/g, ' ').trim();
}

async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    // 404: it is gone; 409: another removal of it is in progress.
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number }).statusCode;
}
