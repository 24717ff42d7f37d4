import { createSecret } from '@pixmesh/kernel/fresh-secrets';
import { ConfigError } from '@pixmesh/service/config';

/** The steps of a rotation (ADR 0032), as functions of what a setting holds. */
type Rotation = {
  /** A new one behind the current one: `old,new`. */
  add(text: string): string;
  /** The new one is the current one: `new,old`. */
  swap(text: string): string;
  /** The current one alone: `new`. */
  end(text: string): string;
};

const OTHER_PASSWORD = 'other_password';

const PEPPERS = listed((current) => `${versionOf(current) + 1}:${createSecret()}`);

const ROTATIONS: Readonly<Record<string, Rotation>> = {
  API_KEY_PEPPER: {
    ...PEPPERS,
    end: (text) => {
      const [current, other] = readBoth(text);
      if (versionOf(current) > versionOf(other)) return current;
      throw new ConfigError('rotate: end drops the pepper with the lower version; swap first');
    },
  },
  CALLBACK_SECRET: listed(() => createSecret()),
  DATABASE_URL: {
    add: (text) => {
      const { url, other } = readUrl(text);
      expectState(other === null);
      url.searchParams.set(OTHER_PASSWORD, createSecret());
      return url.href;
    },
    swap: (text) => {
      const { url, other } = readUrl(text);
      expectState(other !== null);
      url.searchParams.set(OTHER_PASSWORD, decodeURIComponent(url.password));
      url.password = encodeURIComponent(other ?? '');
      return url.href;
    },
    end: (text) => {
      const { url, other } = readUrl(text);
      expectState(other !== null);
      url.searchParams.delete(OTHER_PASSWORD);
      return url.href;
    },
  },
};

/**
 * What a setting holds after the next step of its rotation. From text to text, so that it fits whatever keeps secrets,
 * and none stands on a command line.
 * @throws ConfigError which quotes nothing of the text
 */
export function rotateSecret(setting: string, step: string, text: string): string {
  const rotation = ROTATIONS[setting];
  const settings = Object.keys(ROTATIONS).join(', ');
  if (rotation === undefined) throw new ConfigError(`rotate: expected one of ${settings}`);
  if (step !== 'add' && step !== 'swap' && step !== 'end') {
    throw new ConfigError('rotate: expected add, swap or end');
  }
  return rotation[step](text.trimEnd());
}

/** Of settings that hold one value, or two separated by a comma. */
function listed(makeNext: (current: string) => string): Rotation {
  return {
    add: (text) => {
      expectState(text !== '' && !text.includes(','));
      return `${text},${makeNext(text)}`;
    },
    swap: (text) => readBoth(text).toReversed().join(','),
    end: (text) => readBoth(text)[0],
  };
}

function readBoth(text: string): [string, string] {
  const [current = '', other = '', ...more] = text.split(',');
  expectState(current !== '' && other !== '' && more.length === 0);
  return [current, other];
}

/** The first pepper has none in its text. */
function versionOf(pepper: string): number {
  return Number(/^(\d+):/.exec(pepper)?.[1] ?? '1');
}

function readUrl(text: string): { url: URL; other: string | null } {
  const url = URL.parse(text);
  if (url === null) throw new ConfigError('rotate: expected a URL on the standard input');
  return { url, other: url.searchParams.get(OTHER_PASSWORD) };
}

/** A step that comes twice, or too early, would lose a secret that is still in use. */
function expectState(isReady: boolean): void {
  if (isReady) return;
  throw new ConfigError('rotate: add expects one secret on the standard input, swap and end two');
}
