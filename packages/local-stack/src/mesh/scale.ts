import { StartupFailure } from '../startup-failure.ts';
import { MESH_SERVICES, type MeshService } from './mesh-services.ts';

/** A machine that runs more of one service has other limits long before. */
const PROCESSES_MAX = 16;

/** How many processes there are to be, by service; one of every service that is not named. */
export type Scale = ReadonlyMap<string, number>;

/** The acquirer's stand-in is one, as the acquirer is. */
export const SCALABLE: readonly MeshService[] = MESH_SERVICES.filter(({ wave }) => wave === 1);

/**
 * Reads `charges=2,ledger=2`, once or several times; what is named last counts.
 * @throws StartupFailure with one line for a name or a count that cannot be
 */
export function parseScale(values: readonly string[]): Scale {
  const pairs = values.flatMap((value) => value.split(','));
  return new Map(pairs.map(parsePair));
}

function parsePair(pair: string): [string, number] {
  const [, name = '', text = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
  const names = SCALABLE.map((service) => service.name).join(', ');
  if (name === '') throw new StartupFailure(`--scale takes NAME=N, not "${pair}" (NAME: ${names})`);
  if (!SCALABLE.some((service) => service.name === name)) {
    throw new StartupFailure(`--scale knows no service "${name}"; there are: ${names}`);
  }
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= PROCESSES_MAX) return [name, count];
  throw new StartupFailure(
    `--scale ${name} takes a number from 1 to ${PROCESSES_MAX}, not "${text}"`,
  );
}

/** As it is written on a command line. */
export function formatScale(scale: Scale): string {
  return [...scale].map(([name, count]) => `${name}=${count}`).join(',');
}

/** `charges`, `charges-2`, `charges-3`, … */
export function processName(service: string, number: number): string {
  return number === 1 ? service : `${service}-${number}`;
}
