/** Texts of a release: each function takes a file as it is and answers it for the next version. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const UNRELEASED = '## Unreleased\n';

/** @throws Error where it is no version, or not above the present one */
export function requireLater(next: string, present: string): void {
  const [of, than] = [partsOf(next), partsOf(present)];
  const index = of.findIndex((part, at) => part !== than[at]);
  if (index === -1 || (of[index] ?? 0) < (than[index] ?? 0)) {
    throw new Error(`${next} is not above ${present}`);
  }
}

/**
 * What was unreleased stands under the version and its day; a new section begins above it.
 *
 * @throws Error where nothing stands under Unreleased: a release says what it changes
 */
export function withRelease(changelog: string, version: string, day: string): string {
  const [before = '', rest] = changelog.split(UNRELEASED);
  const section = rest?.split(/^## /m)[0] ?? '';
  if (!/^- /m.test(section)) throw new Error('CHANGELOG.md has nothing under Unreleased');
  return `${before}${UNRELEASED}\n## ${version} (${day})\n${rest}`;
}

/** Of the root, a workspace, or the lockfile with all of them. */
export function withPackageVersion(text: string, version: string): string {
  const manifest = JSON.parse(text) as {
    version: string;
    packages?: Record<string, { version?: string; link?: boolean }>;
  };
  manifest.version = version;
  for (const [path, entry] of Object.entries(manifest.packages ?? {})) {
    if (!path.includes('node_modules/') && entry.version !== undefined) entry.version = version;
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `version` and `appVersion` of the chart, and the tag of the images in its values. */
export function withChartVersion(text: string, version: string): string {
  return text
    .replace(/^(version|appVersion): .*$/gm, `$1: ${version}`)
    .replace(/^( {2}tag): .*$/m, `$1: ${version}`);
}

function partsOf(version: string): number[] {
  const [, ...parts] = VERSION.exec(version) ?? [];
  if (parts.length === 0) throw new Error(`${version} is no version such as 1.2.3`);
  return parts.map(Number);
}
