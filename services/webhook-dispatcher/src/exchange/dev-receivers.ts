import type { DialTarget } from './dial-target.ts';

/** A public-looking name, or `*.suffix`, and the local address that stands behind it while developing. */
export type DevReceiver = { pattern: string; target: DialTarget };

const ENTRY_PATTERN = /^((?:\*\.)?[a-z0-9.-]+)=([\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})$/i;
const PORT_MAX = 65_535;

/** Reads `WEBHOOK_DEV_RECEIVERS`, such as `*.receiver.example.com=127.0.0.1:40123`; null when ill-formed. */
export function parseDevReceivers(text: string): readonly DevReceiver[] | null {
  if (text.trim() === '') return [];
  const receivers = text.split(',').map((entry) => parseEntry(entry.trim()));
  return receivers.every((receiver) => receiver !== null) ? receivers : null;
}

/** The local address for a host name of a parsed URL, by exact name or by suffix; else null. */
export function findDevReceiver(
  receivers: readonly DevReceiver[],
  hostname: string,
): DialTarget | null {
  const name = hostname.replace(/\.$/, '');
  return receivers.find(({ pattern }) => matches(pattern, name))?.target ?? null;
}

function parseEntry(entry: string): DevReceiver | null {
  const [, pattern = '', host = '', portText = ''] = ENTRY_PATTERN.exec(entry) ?? [];
  const port = Number(portText);
  if (pattern === '' || port < 1 || port > PORT_MAX) return null;
  return {
    pattern: pattern.toLowerCase(),
    target: { address: host.replace(/^\[(.*)\]$/, '$1'), port },
  };
}

/** `*.suffix` stands for one or more labels before the suffix, never for the suffix itself. */
function matches(pattern: string, name: string): boolean {
  if (!pattern.startsWith('*.')) return name === pattern;
  const suffix = pattern.slice(1);
  return name.length > suffix.length && name.endsWith(suffix);
}
