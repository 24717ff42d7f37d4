import { createHash } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';

const ON_DISK = '.pixmesh-test';
const SHARED_MEMORY = '/dev/shm';
/** Far more than a run was seen to use (300 MB): the log of transactions alone may grow to 1 GB. */
const BYTES_MIN = 6 * 1024 ** 3;
const NAME_LENGTH = 12;

/**
 * The folder of infrastructure that one run of the int ring uses: in memory, where there is room. Hundreds of databases are
 * made and dropped, each of them some three hundred files, for which a file system on a disk takes much CPU: the ring took
 * 373 s with one, 331 and 349 s without.
 */
export function throwawayHome(): string {
  return hasRoom() ? homeInMemory() : ON_DISK;
}

/** Where a run that was killed may have left something. */
export function throwawayHomes(): string[] {
  return [ON_DISK, homeInMemory()];
}

function homeInMemory(): string {
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
