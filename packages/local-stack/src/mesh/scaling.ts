import { allocatePorts } from '../ports/allocate-ports.ts';
import type { Progress } from '../progress.ts';
import { createSequence } from '../sequence.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { requireConnections } from './connection-budget.ts';
import type { MeshService } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { processName, SCALABLE, type Scale } from './scale.ts';
import { failpointsOriginOf, internalOriginOf } from './service-environment.ts';
import { describeServiceProcess } from './service-process.ts';
import { settleAll } from './settle-all.ts';
import { sourcesOf } from './sources.ts';

/** The processes of every service beyond its first. They come and go while the stack runs. */
export interface Scaling {
  /** Resolves when each service that is named has so many processes; those with the highest numbers are stopped. */
  scaleTo(scale: Scale): Promise<void>;
  /** Where each further process answers for itself, by its name. */
  internalUrls(): Record<string, string>;
  /** Where its failpoints are armed. */
  failpointUrls(): Record<string, string>;
  close(): Promise<void>;
}

/** All processes of a service share its ports but these, by which each answers for itself. */
const OWN_PORTS = ['INTERNAL_PORT', 'FAILPOINTS_PORT'] as const;

interface FurtherProcess {
  name: string;
  internalUrl: string;
  failpointsUrl: string | null;
  releasePorts(): Promise<void>;
}

export function createScaling(input: {
  supervisor: Supervisor;
  settings: MeshSettings;
  log: Progress;
}): Scaling {
  const { supervisor, settings, log } = input;
  const further = new Map<string, FurtherProcess[]>(SCALABLE.map(({ name }) => [name, []]));
  const countOf = (service: string) => 1 + furtherOf(service).length;
  const inSequence = createSequence();
  return {
    // Two changes of one service at once would take the same number.
    scaleTo: (scale) => inSequence(() => change(scale)),
    internalUrls: () => urlsOf((one) => one.internalUrl),
    failpointUrls: () => urlsOf((one) => one.failpointsUrl),
    close: async () => {
      await Promise.all([...further.values()].flat().map((one) => one.releasePorts()));
    },
  };

  function urlsOf(urlOf: (one: FurtherProcess) => string | null): Record<string, string> {
    const named = [...further.values()].flat().map((one) => [one.name, urlOf(one)]);
    return Object.fromEntries(named.filter(([, url]) => url !== null)) as Record<string, string>;
  }

  function furtherOf(service: string): FurtherProcess[] {
    return further.get(service) ?? [];
  }

  async function change(scale: Scale): Promise<void> {
    const wanted = new Map(
      SCALABLE.map(({ name }) => [name, scale.get(name) ?? countOf(name)] as const),
    );
    await requireConnections(wanted, settings.infra.postgresUrl);
    await settleAll(SCALABLE.map((service) => reach(service, wanted.get(service.name) ?? 1)));
  }

  async function reach(service: MeshService, count: number): Promise<void> {
    while (countOf(service.name) < count) await add(service);
    while (countOf(service.name) > count) await removeLast(service.name);
  }

  async function add(service: MeshService): Promise<void> {
    const name = processName(service.name, countOf(service.name) + 1);
    const slots = OWN_PORTS.map((variable) => service.ports[variable] ?? '').filter(Boolean);
    const ports = await allocatePorts(slots, { environment: {} });
    const own = withOwnPorts(settings, new Set(slots), ports.of);
    furtherOf(service.name).push({
      name,
      internalUrl: internalOriginOf(service, own),
      failpointsUrl: failpointsOriginOf(service, own),
      releasePorts: ports.release,
    });
    try {
      const described = { ...describeServiceProcess(service, own), name, cwd: sourcesOf(name) };
      await log.waiting(name, supervisor.start(described));
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
    await last.releasePorts();
    log.line(`${last.name}: stopped`);
  }
}

function withOwnPorts(
  shared: MeshSettings,
  ownSlots: ReadonlySet<string>,
  ownPortOf: (slot: string) => number,
): MeshSettings {
  const portOf = (slot: string): number =>
    ownSlots.has(slot) ? ownPortOf(slot) : shared.portOf(slot);
  const origin = (slot: string): string => {
    const url = new URL(shared.origin(slot));
    url.port = String(portOf(slot));
    return url.origin;
  };
  return { ...shared, portOf, origin };
}
