import type { OracleCommand } from '#test/oracle-books.ts';

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
  const sent: OracleCommand[] = [];
  const pix = createPixCommands(random);
  const { holdTake, holdEnd } = createHoldCommands(random, accounts, pix.aRefund);
  const { receivedPixCredit, ...money } = createMoneyCommands(random, pix.recordCredited);
  const { disputeBlock, ...ofPix } = pix.fresh;
  const others: readonly Fresh[] = [
    disputeBlock,
    disputeBlock,
    ...Object.values(ofPix),
    ...Object.values(money),
  ];
  return { next };

  function next(): OracleCommand {
    const command = draw();
    sent.push(command);
    if (sent.length > MEMORY) sent.shift();
    return command;
  }

  function draw(): OracleCommand {
    if (sent.length > 0 && random.chance(REPEAT_RATE)) return random.pick(sent);
    if (sent.length > 0 && random.chance(OTHER_CONTENT_RATE)) {
      return otherContent(random.pick(sent));
    }
    return drawKind()(random.pick(accounts));
  }

  function drawKind(): Fresh {
    const draw = random.fraction();
    if (draw < 0.27) return holdTake;
    if (draw < 0.57) return holdEnd;
    return draw < 0.74 ? receivedPixCredit : random.pick(others);
  }

  /** The same id means something else: a bug of a caller, which must not change anything. */
  function otherContent(command: OracleCommand): OracleCommand {
    if (!random.chance(OTHER_ACCOUNT_RATE)) {
      return 'amount' in command ? { ...command, amount: command.amount + 1 } : command;
    }
    // A resource has one owner, so that what is decided for one owner never hangs on another one's order.
    const elsewhere = command.kind === 'hold.take' ? { resourceId: random.id() } : {};
    return { ...command, ...elsewhere, accountId: random.pick(accounts) };
  }
}
