import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { homeOf } from './mesh.ts';

/** What others on this machine may see of a process: its arguments, and the environment that it was started with. */
export function readProcessText(pid: number): string {
  if (!existsSync('/proc/self/environ')) {
    return spawnSync('ps', ['-Eww', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  }
  return ['cmdline', 'environ']
    .map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
    .join('\0')
    .replaceAll('\0', '\n');
}

/** What has to stay hidden in a home, by the file in which it stands: of a URL its password, of a key one line. */
export function hiddenTexts(): Map<string, string> {
  const data = path.join(homeOf(), 'data');
  const passwords = readdirSync(data).filter((name) => name.endsWith('.password'));
  const secrets = path.join(homeOf(), 'secrets');
  const settings = readdirSync(secrets, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes(path.sep),
  );
  const files = [
    ...passwords.map((name) => path.join(data, name)),
    ...settings.map((name) => path.join(secrets, name)),
  ];
  return new Map(files.map((file) => [file, tellingPart(readFileSync(file, 'utf8').trim())]));
}

function tellingPart(text: string): string {
  const url = URL.parse(text);
  if (url?.password) return url.password;
  const jwk = /"d":"([\w-]+)"/.exec(text)?.[1];
  return jwk ?? text.split('\n')[1] ?? text;
}
