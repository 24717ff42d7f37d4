/** A process of its own for hostile receivers: what they pour costs CPU and memory that a test measures elsewhere. */
import { startDnsServer } from './dns-server.ts';
import { startHostileReceivers } from './hostile-receivers.ts';

const receivers = await startHostileReceivers();
const silentDns = await startDnsServer(() => 'TIMEOUT');
const { port, ports } = receivers;
process.stdout.write(`${JSON.stringify({ port, ports, silentDns: silentDns.address })}\n`);
// Whoever started it holds its input open.
process.stdin.on('end', () => process.exit()).resume();
