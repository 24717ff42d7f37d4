import { provideProgram } from '../infra/debian-program.ts';
import { findProgram } from '../infra/find-program.ts';

/** Debian names it after the package, its makers do not. */
const ALERTMANAGER_NAMES = ['alertmanager', 'prometheus-alertmanager'];

/** What checks and tests rules; it comes with Prometheus. */
export function findPromtool(): string {
  return provideProgram({ names: ['promtool'], package: 'prometheus' });
}

/**
 * Alertmanager is taken from PATH alone, and is null where it is not there: Debian's reads its templates from where an
 * installation puts them, so that it does not run unpacked.
 * @throws StartupFailure where Prometheus is neither on PATH nor to be had from Debian
 */
export function findObservers(): { prometheus: string; alertmanager: string | null } {
  return {
    prometheus: provideProgram({ names: ['prometheus'], package: 'prometheus' }),
    alertmanager: ALERTMANAGER_NAMES.map(findProgram).find((found) => found !== undefined) ?? null,
  };
}
