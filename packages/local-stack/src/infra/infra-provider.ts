import type { Progress } from '../progress.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { InfraSlot } from './infra-slots.ts';
import type { RedisAccess } from './redis-users.ts';

export type InfraMode = 'processes' | 'containers';

export interface BootInput {
  home: string;
  mode: InfraMode;
  /** Postgres without the costs of outliving a power cut. */
  isThrowaway?: boolean | undefined;
  log: Progress;
  supervisor: Supervisor;
  portOf(slot: InfraSlot): number;
}

/** What brings up one part as a process. */
export type BootDeps = Pick<BootInput, 'supervisor' | 'log'>;

/** How each part is brought up by one provider. */
export interface InfraProvider {
  /** Superuser's URL of the server, any database. */
  postgres(): Promise<string>;
  kafka(): Promise<string>;
  registry(databaseUrl: string): Promise<string>;
  redis(): Promise<RedisAccess>;
}
