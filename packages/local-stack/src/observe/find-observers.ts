import { findProgram } from '../infra/find-program.ts';
import { StartupFailure } from '../startup-failure.ts';

/** Debian names it after the package, its makers do not. */
const ALERTMANAGER_NAMES = ['alertmanager', 'prometheus-alertmanager'];

/** Prometheus and Alertmanager from PATH. @throws StartupFailure that says how they are had, where one is missing */
export function findObservers(): { prometheus: string; alertmanager: string } {
  const prometheus = findProgram('prometheus');
  const alertmanager = ALERTMANAGER_NAMES.map(findProgram).find((found) => found !== undefined);
  if (prometheus && alertmanager) return { prometheus, alertmanager };
  throw new StartupFailure(
    '--observe needs prometheus and alertmanager on PATH (Debian: apt install prometheus prometheus-alertmanager)',
  );
}
