import { allocatePorts } from '../ports/allocate-ports.ts';
import { StartupFailure } from '../startup-failure.ts';
import type { ChildSpec } from '../supervisor/child-spec.ts';
import { MESH_SERVICES } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { internalOriginOf } from './service-environment.ts';
import { describeServiceProcess } from './service-process.ts';

const REPLICAS_MAX = 4;

/** The acquirer's stand-in is one, as the acquirer is. */
const REPLICATED = MESH_SERVICES.filter(({ wave }) => wave === 1);

/** One more process of every service, named `<service>-<number>`. */
export interface Replica {
  processes: ChildSpec[];
  gateway_url: string;
  admin_url: string;
  internal_urls: Record<string, string>;
  release(): Promise<void>;
}

/** How many processes there are to be of every service. */
export function readReplicaCount(environment: NodeJS.ProcessEnv = process.env): number {
  const text = environment['PIXMESH_REPLICAS'] ?? '1';
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= REPLICAS_MAX) return count;
  throw new StartupFailure(`PIXMESH_REPLICAS must be from 1 to ${REPLICAS_MAX}, not "${text}"`);
}

/**
 * A replica shares the infrastructure and the acquirer, and listens on ports of its own. Its services call each other
 * alone, so that a caller of its gateway goes through the whole replica.
 */
export async function describeReplica(number: number, shared: MeshSettings): Promise<Replica> {
  const slots = REPLICATED.flatMap(({ ports }) => Object.values(ports));
  // Ports that the environment fixes are those of the first process.
  const block = await allocatePorts(slots, {});
  const portOf = (slot: string) => (slots.includes(slot) ? block.of(slot) : shared.portOf(slot));
  const origin = (slot: string) => `http://127.0.0.1:${portOf(slot)}`;
  const settings: MeshSettings = { ...shared, portOf, origin };
  const nameOf = ({ name }: { name: string }) => `${name}-${number}`;
  return {
    processes: REPLICATED.map((service) => ({
      ...describeServiceProcess(service, settings),
      name: nameOf(service),
    })),
    gateway_url: origin('gateway'),
    admin_url: origin('admin'),
    internal_urls: Object.fromEntries(
      REPLICATED.map((service) => [nameOf(service), internalOriginOf(service, settings)]),
    ),
    release: block.release,
  };
}
