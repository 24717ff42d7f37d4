import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

/**
 * `npm run sbom [-- FILE]`: a CycloneDX document of what is installed and downloaded, with the digest of each, made
 * from the same files that installation and start check against. Without a file it goes to standard output.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PINNED = 'packages/local-stack/src/infra/artifact-digests.json';
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

interface Component {
  type: string;
  name: string;
  version: string;
  purl?: string;
  'bom-ref'?: string;
  hashes?: { alg: string; content: string }[];
}

interface Document {
  metadata: { component: Component };
  components: Component[];
}

type Pinned = Record<string, Record<string, { purl: string; sha256: string }>>;

const document = readNpm();
for (const component of [document.metadata.component, ...document.components]) {
  // npm names the project and its workspaces after their folders.
  const [own] = /^(@pixmesh\/[a-z-]+|pixmesh)(?=@)/.exec(component['bom-ref'] ?? '') ?? [];
  if (own) component.name = own;
  if (component.name.startsWith('node-linux-')) component.type = 'platform';
}
document.components.push(...readMaven());
const text = `${JSON.stringify(document, null, 2)}\n`;
const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(text);
else writeFileSync(file, text);

/** From the lockfile alone: platforms other than this one belong to it too. */
function readNpm(): Document {
  const args = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
  ];
  const output = execFileSync('npm', [...args, '--loglevel=error'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return JSON.parse(output) as Document;
}

function readMaven(): Component[] {
  const pinned = JSON.parse(readFileSync(path.join(ROOT, PINNED), 'utf8')) as Pinned;
  return Object.values(pinned)
    .flatMap((files) => Object.values(files))
    .map(({ purl, sha256 }) => {
      const [, name = '', version = ''] = /\/([^/@]+)@([^?#]+)/.exec(purl) ?? [];
      const hashes = [{ alg: 'SHA-256', content: sha256 }];
      return { 'bom-ref': purl, type: 'library', name, version, purl, hashes };
    });
}
