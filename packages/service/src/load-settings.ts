import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { z } from 'zod';

const SERVICES = path.resolve(import.meta.dirname, '../../../services');

/** The schema by which the service of this name itself reads its settings. */
export async function loadSettings(service: string): Promise<z.ZodObject> {
  const file = path.join(SERVICES, service, 'src/config.ts');
  const exported = Object.values((await import(pathToFileURL(file).href)) as object) as unknown[];
  const schema = exported.find((value) => value instanceof z.ZodObject);
  if (schema === undefined) throw new Error(`${file} exports no schema of settings`);
  return schema;
}
