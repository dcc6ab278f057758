import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The pages that a table of the README or of the house leads to, in their sequence. */
function pagesOf(path: string, base = ''): string[] {
  const rows = text(path).match(/^\| \[.*$/gm) ?? [];
  return [...rows.join('\n').matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, target = '']) => base + target);
}

/** The title of a page and its first sentence, without its links. */
function entry(path: string): string {
  const [, title = '', below = ''] = /^# (.+)\n([^]*)/.exec(text(path)) ?? [];
  const [, paragraph = ''] = /\n\n([^#|\s][^]*?)\n\n/.exec(`\n${below}`) ?? [];
  const [sentence = ''] = /^[^]*?[.:](?=\s|$)/.exec(paragraph) ?? [];
  const plain = sentence.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(/\s+/g, ' ');
  return `- [${title}](${path}): ${plain.replace(/:$/, '.')}`;
}

it('llms.txt lists the pages as they begin; `npm test -- test/docs/llms.test.ts --update` writes it anew', async () => {
  const [, about = ''] = /^# order-sync\n\n([^]*?)\n\n/.exec(text('README.md')) ?? [];
  const pages = pagesOf('README.md');
  const optional = [...pages.filter((path) => !path.startsWith('docs/')), ...pagesOf('src/README.md', 'src/')];
  const listed = [
    '# order-sync',
    `> ${about.replaceAll('\n', ' ')}`,
    '## Docs',
    [entry('README.md'), ...pages.filter((path) => path.startsWith('docs/')).map(entry)].join('\n'),
    '## For programs',
    [
      '- [Settings](config/default.yaml): Every setting of order-sync with its default.',
      '- [Events](docs/events.schema.json): The JSON Schema of the events of the feed and of webhooks.',
    ].join('\n'),
    '## Optional',
    optional
      .filter((path) => !path.includes('..'))
      .map(entry)
      .join('\n'),
  ].join('\n\n');
  await expect(`${listed}\n`).toMatchFileSnapshot(fileURLToPath(new URL('llms.txt', ROOT)));
});
