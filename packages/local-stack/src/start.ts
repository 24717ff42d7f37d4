import { parseStartArguments } from './command-line.ts';
import { startDetached } from './detach.ts';
import { requestRestart, requestScale } from './mesh/control-client.ts';
import { formatScale } from './mesh/scale.ts';
import { createProgress } from './progress.ts';
import { readHome } from './repository.ts';
import { runCommand } from './run-command.ts';
import { runStack } from './run-stack.ts';
import { findRunning } from './supervisor/pid-file.ts';

await runCommand(async () => {
  const args = parseStartArguments(process.argv.slice(2));
  const home = readHome();
  if (args.restart !== undefined) {
    const pid = await requestRestart(home, args.restart);
    console.log(`${args.restart} is ready again, pid ${pid}`);
  } else if (args.scale.size > 0 && findRunning(home)) {
    await requestScale(home, args.scale);
    console.log(`the running stack has ${formatScale(args.scale)}`);
  } else if (args.detach) {
    await startDetached(home, args);
  } else {
    await runStack({ ...args, home, log: createProgress() });
  }
});
