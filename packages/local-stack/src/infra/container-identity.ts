import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY_FILES } from '@pixmesh/certificates/mesh-identity';
import { identityFolder, type StackIdentity } from './identities.ts';

/** Where the certificate of a container stands in it. */
export const IDENTITY_FOLDER = '/pixmesh-identity';

export function identityFiles(
  home: string,
  name: StackIdentity,
): { target: string; content: string }[] {
  return Object.values(IDENTITY_FILES).map((file) => ({
    target: `${IDENTITY_FOLDER}/${file}`,
    content: readFileSync(join(identityFolder(home, name), file), 'utf8'),
  }));
}
