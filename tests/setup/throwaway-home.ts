import { createHash } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';

const ON_DISK = '.pixmesh-test';
const SHARED_MEMORY = '/dev/shm';
/** Room in memory that a run may take: it uses up to 2 GB, mostly logs of transactions. */
const BYTES_MIN = 6 * 1024 ** 3;
const NAME_LENGTH = 12;

/**
 * The folder of infrastructure that one run of the int ring uses: in memory, where there is room. Hundreds of databases are
 * made and dropped, each of them some three hundred files, and a file system on a disk takes a tenth of the ring's CPU for
 * them.
 */
export function throwawayHome(): string {
  if (!hasRoom()) return ON_DISK;
  const checkout = createHash('sha256').update(process.cwd()).digest('hex').slice(0, NAME_LENGTH);
  return path.join(SHARED_MEMORY, `pixmesh-test-${checkout}`);
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return Math.min(bavail * bsize, freemem()) >= BYTES_MIN;
  } catch {
    return false;
  }
}
