import type { InstallationCertificates } from '@pixmesh/certificates/installation-certificates';
import type { InfraUrls } from '../infra/boot-infra.ts';
import type { MeshSecrets } from './mesh-secrets.ts';

/** What the environment of a service is made from. */
export interface MeshSettings {
  home: string;
  infra: InfraUrls;
  secrets: MeshSecrets;
  certificates: InstallationCertificates;
  /** Where services send their traces; absent when nobody looks at them. */
  otlpEndpoint: string | undefined;
  /** By service: what it reads from its environment. */
  settingNames: ReadonlyMap<string, readonly string[]>;
  portOf(slot: string): number;
  /** `http://127.0.0.1:<port>` of a slot. */
  origin(slot: string): string;
}
