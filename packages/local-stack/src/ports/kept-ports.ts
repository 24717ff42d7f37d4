import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../write-file-atomically.ts';

const KeptPorts = z.object({
  /** First port of the block. */
  base: z.int(),
  /** By slot; what the environment fixed is not among them. */
  ports: z.record(z.string(), z.int()),
});
export type KeptPorts = z.output<typeof KeptPorts>;

/** The ports of the home's last start. */
export function readKeptPorts(home: string): KeptPorts | undefined {
  const path = pathIn(home);
  return existsSync(path) ? KeptPorts.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

export function writeKeptPorts(home: string, kept: KeptPorts): void {
  writeFileAtomically(pathIn(home), `${JSON.stringify(kept, null, 2)}\n`);
}

function pathIn(home: string): string {
  return join(home, 'ports.json');
}
