import { runService } from '@pixmesh/service/run-service';
import { openPrivateHome } from '@pixmesh/local-stack/infra/private-home';
import { createProgress } from '@pixmesh/local-stack/progress';
import { readHome } from '@pixmesh/local-stack/repository';

import { describeAlone } from './describe-alone.ts';
import { startAlone } from './start-alone.ts';

/** Its own folder beside the mesh's: both can run at once. */
const FOLDER = 'simulator';

const log = createProgress();
await runService('acquirer-simulator', async () => {
  const home = `${readHome()}/${FOLDER}`;
  for (const folder of [readHome(), home]) openPrivateHome(folder);
  const alone = await startAlone({ home, log, env: process.env });
  for (const line of describeAlone(alone)) log.line(line);
  return alone;
});
