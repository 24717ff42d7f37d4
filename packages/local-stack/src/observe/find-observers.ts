import { provideProgram } from '../infra/debian-program.ts';

/** What checks and tests rules; it comes with Prometheus. */
export function findPromtool(): string {
  return provideProgram({ names: ['promtool'], package: 'prometheus' });
}

/** @throws StartupFailure where one of them is neither on PATH nor to be had from Debian */
export function findObservers(): { prometheus: string; alertmanager: string } {
  return {
    prometheus: provideProgram({ names: ['prometheus'], package: 'prometheus' }),
    alertmanager: provideProgram({
      names: ['alertmanager', 'prometheus-alertmanager'],
      package: 'prometheus-alertmanager',
    }),
  };
}
