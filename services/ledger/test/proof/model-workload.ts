import type { OracleCommand } from '#test/oracle.ts';

import { createHoldCommands } from './model-hold-commands.ts';
import { createMoneyCommands } from './model-money-commands.ts';
import { createPixCommands } from './model-pix-commands.ts';
import type { SeededRandom } from './seeded-random.ts';

/** How far back a repeat reaches. */
const MEMORY = 300;
const REPEAT_RATE = 0.15;
const OTHER_CONTENT_RATE = 0.04;
const OTHER_ACCOUNT_RATE = 0.3;

type Fresh = (accountId: string) => OracleCommand;

/** Commands of every kind over a few accounts, from a seed: what many callers, confused or not, may send. */
export function createWorkload(random: SeededRandom, accounts: readonly string[]) {
  const said: OracleCommand[] = [];
  const pix = createPixCommands(random);
  const { take, endHold } = createHoldCommands(random, accounts, pix.aRefund);
  const { credit, ...money } = createMoneyCommands(random, pix.remember);
  const { block, ...ofPix } = pix.fresh;
  const others: readonly Fresh[] = [block, block, ...Object.values(ofPix), ...Object.values(money)];
  return { next };

  function next(): OracleCommand {
    const command = draw();
    said.push(command);
    if (said.length > MEMORY) said.shift();
    return command;
  }

  function draw(): OracleCommand {
    if (said.length > 0 && random.chance(REPEAT_RATE)) return random.pick(said);
    if (said.length > 0 && random.chance(OTHER_CONTENT_RATE)) {
      return otherContent(random.pick(said));
    }
    return drawKind()(random.pick(accounts));
  }

  function drawKind(): Fresh {
    const draw = random.fraction();
    if (draw < 0.27) return take;
    if (draw < 0.57) return endHold;
    return draw < 0.74 ? credit : random.pick(others);
  }

  /** The same id means something else: a bug of a caller, which must not change anything. */
  function otherContent(command: OracleCommand): OracleCommand {
    if (!random.chance(OTHER_ACCOUNT_RATE)) {
      return 'amount' in command ? { ...command, amount: command.amount + 1 } : command;
    }
    // A resource has one owner, so that what is decided for one owner never hangs on another one's order.
    const elsewhere = command.kind === 'take' ? { resourceId: random.id() } : {};
    return { ...command, ...elsewhere, accountId: random.pick(accounts) };
  }
}
