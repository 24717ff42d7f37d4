import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noProgress } from '../progress.ts';
import { createSupervisor, type Supervisor } from '../supervisor/supervisor.ts';
import type { Artifact } from './artifacts.ts';
import { installArtifact } from './install-artifact.ts';

const JAR = 'a jar, or what a server says is one';

let folder: string;
let supervisor: Supervisor;
const former = { PATH: process.env['PATH'], PIXMESH_CACHE: process.env['PIXMESH_CACHE'] };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pixmesh-download-'));
  process.env['PATH'] = `${join(folder, 'bin')}${delimiter}${former.PATH}`;
  process.env['PIXMESH_CACHE'] = join(folder, 'cache');
  supervisor = await createSupervisor({ home: join(folder, 'home'), log: noProgress });
});

afterEach(async () => {
  await supervisor.stop();
  for (const [name, value] of Object.entries(former)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true });
});

test('a download that is what was pinned is kept for every later start', async () => {
  placeMaven(JAR);
  const installed = await install();
  expect(readdirSync(installed)).toEqual(['broker.jar']);
  placeMaven('something else');
  expect(await install()).toBe(installed);
});

test('a tampered download stops the start in one line, and nothing of it is kept', async () => {
  placeMaven(JAR.replace('jar', 'jaR'));
  const refused = await install().catch((error: Error) => error);
  expect(refused).toMatchObject({ name: 'StartupFailure' });
  expect((refused as Error).message).toMatch(/^download refused, broker\.jar: SHA-256 is [^\n]+$/);
  expect(readdirSync(join(folder, 'cache'))).toEqual(['downloads.lock']);
});

async function install(): Promise<string> {
  const artifact: Artifact = {
    folder: 'broker-1.0',
    title: 'a broker',
    goal: 'copy',
    pom: () => '',
    files: { 'broker.jar': { purl: 'pkg:maven/org.example/broker@1.0', sha256: sha256(JAR) } },
  };
  return await installArtifact({ supervisor, log: noProgress }, artifact);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A program of Maven's name that is answered these bytes for the jar. */
function placeMaven(bytes: string): void {
  const bin = join(folder, 'bin');
  if (!existsSync(bin)) mkdirSync(bin);
  writeFileSync(join(folder, 'served'), bytes);
  const program = `#!/bin/sh
for one; do case $one in -DoutputDirectory=*) out=\${one#*=};; esac; done
mkdir -p "$out" && cp '${join(folder, 'served')}' "$out/broker.jar"
`;
  writeFileSync(join(bin, 'mvn'), program);
  chmodSync(join(bin, 'mvn'), 0o755);
}
