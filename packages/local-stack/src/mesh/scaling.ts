import { allocatePorts } from '../ports/allocate-ports.ts';
import type { Progress } from '../progress.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { requireConnections } from './connection-budget.ts';
import type { MeshService } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { processName, SCALABLE, type Scale } from './scale.ts';
import { internalOriginOf } from './service-environment.ts';
import { describeServiceProcess } from './service-process.ts';

/** The processes of every service beyond its first. They come and go while the stack runs. */
export interface Scaling {
  /** Resolves when each service that is named has so many processes; those with the highest numbers are stopped. */
  scaleTo(scale: Scale): Promise<void>;
  /** Where each further process answers for itself, by its name. */
  internalUrls(): Record<string, string>;
  close(): Promise<void>;
}

interface FurtherProcess {
  name: string;
  internalUrl: string;
  releasePort(): Promise<void>;
}

export function createScaling(input: {
  supervisor: Supervisor;
  settings: MeshSettings;
  log: Progress;
}): Scaling {
  const { supervisor, settings, log } = input;
  const further = new Map<string, FurtherProcess[]>(SCALABLE.map(({ name }) => [name, []]));
  const countOf = (service: string) => 1 + furtherOf(service).length;
  let changing = Promise.resolve();
  return {
    // One change after the other: two of one service would take the same number.
    scaleTo: (scale) => {
      const changed = changing.then(() => change(scale));
      changing = changed.catch(() => undefined);
      return changed;
    },
    internalUrls: () =>
      Object.fromEntries(
        [...further.values()].flat().map(({ name, internalUrl }) => [name, internalUrl]),
      ),
    close: async () => {
      await Promise.all([...further.values()].flat().map((one) => one.releasePort()));
    },
  };

  function furtherOf(service: string): FurtherProcess[] {
    return further.get(service) ?? [];
  }

  async function change(scale: Scale): Promise<void> {
    const wanted = new Map(
      SCALABLE.map(({ name }) => [name, scale.get(name) ?? countOf(name)] as const),
    );
    await requireConnections(wanted, settings.infra.postgresUrl);
    await Promise.all(SCALABLE.map((service) => reach(service, wanted.get(service.name) ?? 1)));
  }

  async function reach(service: MeshService, count: number): Promise<void> {
    while (countOf(service.name) < count) await add(service);
    while (countOf(service.name) > count) await removeLast(service.name);
  }

  async function add(service: MeshService): Promise<void> {
    const name = processName(service.name, countOf(service.name) + 1);
    const port = await allocatePorts([name], { environment: {} });
    const own = withInternalPort(service, settings, port.of(name));
    const internalUrl = internalOriginOf(service, own);
    furtherOf(service.name).push({ name, internalUrl, releasePort: port.release });
    try {
      await log.waiting(name, supervisor.start({ ...describeServiceProcess(service, own), name }));
    } catch (error) {
      await removeLast(service.name);
      throw error;
    }
    log.line(`${name}: ready`);
  }

  async function removeLast(service: string): Promise<void> {
    const last = furtherOf(service).pop();
    if (last === undefined) return;
    await supervisor.remove(last.name);
    await last.releasePort();
    log.line(`${last.name}: stopped`);
  }
}

/** All processes of a service share its ports; each answers for its own health and metrics on a port of its own. */
function withInternalPort(service: MeshService, shared: MeshSettings, port: number): MeshSettings {
  const internalSlot = service.ports['INTERNAL_PORT'];
  const isOwn = (slot: string) => slot === internalSlot;
  return {
    ...shared,
    portOf: (slot) => (isOwn(slot) ? port : shared.portOf(slot)),
    origin: (slot) => (isOwn(slot) ? `http://127.0.0.1:${port}` : shared.origin(slot)),
  };
}
