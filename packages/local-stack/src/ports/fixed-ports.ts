import { StartupFailure } from '../startup-failure.ts';

const PORT_MAX = 65_535;

/** The variable that fixes the port of a slot: `gateway` → `PIXMESH_GATEWAY_PORT`. */
export function portVariable(slot: string): string {
  return `PIXMESH_${slot.replaceAll('-', '_').toUpperCase()}_PORT`;
}

/** Ports that the environment fixes, by slot. */
export function readFixedPorts(
  slots: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Map<string, number> {
  const fixed = new Map<string, number>();
  for (const slot of slots) {
    const value = environment[portVariable(slot)];
    if (value) fixed.set(slot, parsePort(portVariable(slot), value));
  }
  return fixed;
}

function parsePort(variable: string, value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port > 0 && port <= PORT_MAX) return port;
  throw new StartupFailure(`${variable} must be a port between 1 and ${PORT_MAX}, not "${value}"`);
}
