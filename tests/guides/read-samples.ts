import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = 'docs/guides/merchants';

/** Languages of blocks that are run; `text` is what they print, or a listing. No other language is used. */
const SAMPLE_LANGUAGES = ['sh', 'js', 'py', 'sql'] as const;
type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

/** One fenced block of a guide. */
type Block = {
  readonly guide: string;
  readonly line: number;
  readonly language: string;
  /** The `sample=…` or `output=…` beside the language, if any. */
  readonly mark: { readonly kind: string; readonly name: string } | null;
  readonly text: string;
};

export type Sample = {
  readonly guide: string;
  readonly name: string;
  readonly language: SampleLanguage;
  readonly code: string;
  /** What the guide says that it prints; null where it says nothing, and then it prints nothing. */
  readonly output: string | null;
};

/** Names of the guides for merchants, such as `quick-start`. */
export function listGuides(): string[] {
  return globSync(`${FOLDER}/*.md`, { cwd: ROOT })
    .map((file) => path.basename(file, '.md'))
    .sort();
}

export function readGuide(guide: string): string {
  return readFileSync(path.join(ROOT, FOLDER, `${guide}.md`), 'utf8');
}

/** Every fenced block of a guide, in its order. */
function readBlocks(guide: string, markdown: string = readGuide(guide)): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; info: string; lines: string[] } | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) {
      open?.lines.push(line);
    } else if (open === null) {
      open = { line: index + 1, info: line.slice(3), lines: [] };
    } else {
      blocks.push({
        guide,
        line: open.line,
        ...readInfo(open.info),
        text: `${open.lines.join('\n')}\n`,
      });
      open = null;
    }
  }
  if (open !== null) throw new Error(`${guide}.md:${open.line}: the block has no end`);
  return blocks;
}

/** The samples of a guide with the output that stands beside each. */
export function readSamples(guide: string, markdown?: string): Sample[] {
  const blocks = readBlocks(guide, markdown);
  return blocks.flatMap((block) => {
    if (block.mark?.kind !== 'sample' || !isSampleLanguage(block.language)) return [];
    const { language, mark, text } = block;
    const output = blocks.find(
      (other) => other.mark?.kind === 'output' && other.mark.name === mark.name,
    );
    return [{ guide, name: mark.name, language, code: text, output: output?.text ?? null }];
  });
}

/** What would leave a block of a guide without a test, as `guide.md:line: fault`. */
export function findBlockFaults(guide: string, markdown?: string): string[] {
  const blocks = readBlocks(guide, markdown);
  const names = blocks.flatMap(({ mark }) => (mark ? [`${mark.kind}=${mark.name}`] : []));
  const faultOf = ({ language, mark }: Block): string | null => {
    if (isSampleLanguage(language)) {
      if (mark?.kind !== 'sample') return `a block of ${language} is no sample`;
    } else if (language !== 'text') {
      return `the language '${language}' is neither a sample nor text`;
    } else if (mark !== null && mark.kind !== 'output') {
      return 'text is marked as something else than output';
    } else if (mark !== null && !names.includes(`sample=${mark.name}`)) {
      return `output of an unknown sample ${mark.name}`;
    }
    const repeated = mark && names.filter((name) => name === `${mark.kind}=${mark.name}`);
    return repeated && repeated.length > 1 ? `${mark.name} is used twice` : null;
  };
  return blocks.flatMap((block) => {
    const fault = faultOf(block);
    return fault === null ? [] : [`${guide}.md:${block.line}: ${fault}`];
  });
}

function readInfo(info: string): Pick<Block, 'language' | 'mark'> {
  const [language = '', mark] = info.trim().split(/\s+/);
  const [kind = '', name = ''] = mark?.split('=') ?? [];
  return { language, mark: mark === undefined ? null : { kind, name } };
}

function isSampleLanguage(language: string): language is SampleLanguage {
  return SAMPLE_LANGUAGES.some((known) => known === language);
}
