import { readFileSync, writeFileSync } from 'node:fs';

/**
 * `node lock-turbo.ts`, while images are built: leaves of the manifest and the lockfile in this folder what installs
 * turbo alone, in the version and with the digests that the repository names, and none of the other development tools.
 */
type Lockfile = { packages: Record<string, unknown> };

const MANIFEST = 'package.json';
const LOCKFILE = 'package-lock.json';
const TURBO = /^node_modules\/(turbo|@turbo\/[\w-]+)$/;

const { devDependencies } = read<{ devDependencies: Record<string, string> }>(MANIFEST);
const root = { name: 'turbo-alone', devDependencies: { turbo: devDependencies['turbo'] } };
const { packages, ...others } = read<Lockfile>(LOCKFILE);
const kept = Object.entries(packages).filter(([path]) => TURBO.test(path));
write(MANIFEST, root);
write(LOCKFILE, { ...others, packages: { '': root, ...Object.fromEntries(kept) } });

function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
