import { allocatePorts } from '../ports/allocate-ports.ts';
import { noProgress } from '../progress.ts';
import { REPOSITORY_ROOT } from '../repository.ts';
import { aChild, aHome } from '../supervisor/stand-in.ts';
import { createSupervisor } from '../supervisor/supervisor.ts';
import { expect, onTestFinished, test } from 'vitest';
import { isServiceReady } from './service-readiness.ts';

const PRELOAD = ['--import', '@pixmesh/telemetry/preload', '--input-type=module', '-e'];

test('a process is not ready because another one answers on its port', async () => {
  const supervisor = await createSupervisor({ home: aHome(), log: noProgress });
  onTestFinished(() => supervisor.stop());
  const ports = await allocatePorts(['internal'], { environment: {} });
  onTestFinished(() => ports.release());
  const port = ports.of('internal');
  const described = (name: string, code: string) => ({
    ...aChild({ name, cwd: REPOSITORY_ROOT, args: [...PRELOAD, code] }),
    isReady: ({ pid }: { pid: number }) => isServiceReady(`http://127.0.0.1:${port}`, pid),
  });
  await supervisor.start(
    described(
      'answering',
      `import { startHealth } from '@pixmesh/service/health';
      await startHealth({ host: '127.0.0.1', port: ${port}, isAlive: () => true, checkReady: async () => {} });`,
    ),
  );
  const silent = { ...described('silent', 'setInterval(() => {}, 1000);'), readyLimitMs: 500 };
  await expect(supervisor.start(silent)).rejects.toThrow('silent was not ready within 0.5 s');
});
