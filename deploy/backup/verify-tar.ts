import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { extract } from 'tar-stream';
import { z } from 'zod';

/** The server's own list of what it has sent. */
const BackupManifest = z.object({
  Files: z.array(
    z.union([
      z.object({ Path: z.string(), Size: z.int(), Checksum: z.string() }),
      // A name that is no UTF-8 comes in hexadecimal digits.
      z.object({ 'Encoded-Path': z.string(), Size: z.int(), Checksum: z.string() }),
    ]),
  ),
});

/** @throws Error that names the first file of the list that the archive lacks, or holds otherwise */
export async function verifyTar(archive: Readable, manifest: unknown): Promise<void> {
  const expected = new Map(
    BackupManifest.parse(manifest).Files.map((file) => [pathOf(file), file.Checksum]),
  );
  const entries = extract();
  const reading = pipeline(archive, entries);
  reading.catch(() => undefined);
  for await (const entry of entries) {
    const hash = createHash('sha256');
    for await (const chunk of entry) hash.update(chunk as Buffer);
    const { name } = entry.header;
    const digest = expected.get(name);
    if (digest !== undefined && digest !== hash.digest('hex')) {
      throw new Error(`${name} is not as the server has sent it`);
    }
    expected.delete(name);
  }
  await reading;
  const [missing] = expected.keys();
  if (missing !== undefined) throw new Error(`${missing} is missing`);
}

function pathOf(file: z.output<typeof BackupManifest>['Files'][number]): string {
  return 'Path' in file ? file.Path : Buffer.from(file['Encoded-Path'], 'hex').toString('latin1');
}
