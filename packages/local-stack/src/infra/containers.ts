import { StartupFailure } from '../startup-failure.ts';
import type { BootInput, InfraProvider } from './boot-infra.ts';

export function bootContainers(_input: BootInput): InfraProvider {
  throw new StartupFailure('PIXMESH_INFRA=containers is not available');
}
