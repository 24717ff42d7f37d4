import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartupFailure } from '../startup-failure.ts';
import type { PinnedFiles } from './artifact-digests.ts';
import DIGESTS from './artifact-digests.json' with { type: 'json' };

/** What is downloaded through Maven, and where inside the download the interesting part is. */
export interface Artifact {
  /** Folder in the cache; carries the version, so that a new version is a new download. */
  folder: string;
  title: string;
  goal: 'copy' | 'copy-dependencies' | 'unpack';
  /** The part of the pom that names what to download; `target` is the folder to fill. */
  pom(target: string): string;
  /** What the files of the download have to be; `pin-artifacts.ts` writes them. */
  files: PinnedFiles;
  /** The archive out of which Maven took the files. */
  takenFrom?: Coordinates;
  /** The download when it is an archive that is unpacked here, after its digest was checked. */
  archive?: string;
}

export interface Coordinates {
  group: string;
  name: string;
  version: string;
}

const DEPENDENCIES: readonly Coordinates[] = [
  { group: 'org.apache.kafka', name: 'kafka_2.13', version: '4.3.1' },
  // slf4j 1.7, hence not log4j-slf4j2-impl.
  { group: 'org.apache.logging.log4j', name: 'log4j-slf4j-impl', version: '2.25.5' },
];

export const KAFKA: Artifact = {
  folder: 'kafka-4.3.1',
  files: DIGESTS['kafka-4.3.1'],
  title: 'Kafka 4.3.1 (43 MB)',
  goal: 'copy-dependencies',
  pom: () => `<dependencies>${DEPENDENCIES.map(dependency).join('')}</dependencies>`,
};

/** 3.0.9 is the last line that runs on Java 17; its parent pom does not resolve, so it is no dependency. */
export const REGISTRY: Artifact = {
  folder: 'apicurio-registry-3.0.9',
  files: DIGESTS['apicurio-registry-3.0.9'],
  title: 'Apicurio Registry 3.0.9 (104 MB)',
  goal: 'copy',
  archive: 'apicurio-registry-app-3.0.9-all.tar.gz',
  pom: (target) =>
    item(target, {
      group: 'io.apicurio',
      name: 'apicurio-registry-app',
      version: '3.0.9',
      rest: '<type>tar.gz</type><classifier>all</classifier>',
    }),
};

const EMBEDDED_REDIS: Coordinates = {
  group: 'com.github.codemonstur',
  name: 'embedded-redis',
  version: '1.4.4',
};

/** The jar carries server binaries for Linux and macOS; nothing else is taken out of it. */
export const REDIS: Artifact = {
  folder: 'redis-6.2-embedded-1.4.4',
  files: DIGESTS['redis-6.2-embedded-1.4.4'],
  title: 'Redis 6.2 (12 MB)',
  goal: 'unpack',
  pom: (target) => item(target, { ...EMBEDDED_REDIS, rest: '<includes>redis-server-*</includes>' }),
  takenFrom: EMBEDDED_REDIS,
};

/** The runner jar moved between releases, so it is looked for instead of named. */
export function findRunnerJar(folder: string): string {
  const jar = readdirSync(folder).find((name) => name.endsWith('-runner.jar'));
  if (!jar)
    throw new StartupFailure(`no runner jar in ${folder}; delete that folder and start again`);
  return join(folder, jar);
}

/** The Redis binary of this platform inside the unpacked jar. */
export function findRedisBinary(folder: string): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const suffix = `${process.platform}-${architecture}`;
  const binary = readdirSync(folder).find((name) => name.endsWith(suffix));
  if (!binary) {
    throw new StartupFailure(`no Redis binary for ${suffix}; install redis-server on PATH`);
  }
  return join(folder, binary);
}

function dependency(input: Coordinates): string {
  return `<dependency>${coordinates(input)}</dependency>`;
}

function item(target: string, input: Coordinates & { rest: string }): string {
  return `<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>
<artifactId>maven-dependency-plugin</artifactId><version>2.8</version><configuration>
<artifactItems><artifactItem>${coordinates(input)}${input.rest}
<outputDirectory>${target}</outputDirectory></artifactItem></artifactItems>
</configuration></plugin></plugins></build>`;
}

function coordinates(input: Coordinates): string {
  return `<groupId>${input.group}</groupId><artifactId>${input.name}</artifactId><version>${input.version}</version>`;
}
